// Reads level and rank from the header of a message: `[rank0 WARNING]`, `root - INFO -`,
// `[Rank 0] step=..`, `INFO rank=4`, `Process rank: 0`.
//
// Only the words before the message proper are read, so that a line about another rank ("timeout
// waiting for rank 3") gives no rank. Ranks of NCCL and Gloo are ignored, because they count within
// a communicator. Pure function, one pass over at most 160 bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/vocabulary.h"

namespace l4::decode {

struct Header {
  Level level = Level::unknown;
  std::optional<Rank> rank;
  std::size_t end = 0;  ///< end of the level and its separator; 0 if there is no level
};

/// `stamped`: the line had a time stamp, so bare words near its start may be a level.
Header scan_header(std::string_view text, bool stamped);

}  // namespace l4::decode
