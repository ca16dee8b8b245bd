// Level and rank that stand in the header of a message: `[rank0 WARNING]`, `root - INFO -`,
// `[Rank 0] step=..`, `INFO rank=4`, `Process rank: 0`.
//
// Looks at the words before the message proper only, so that a line that speaks about another
// rank ("timeout waiting for rank 3") gives none. NCCL's and Gloo's ranks are those of a
// communicator and are not taken. Pure, one pass over at most 160 bytes.
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
  std::size_t end = 0;  ///< where the level ends with what sets it off; 0 if there is none
};

/// `stamped`: the line had a time stamp, so bare words near its start may be a level.
Header scan_header(std::string_view text, bool stamped);

}  // namespace l4::decode
