// A decoded line: what a rank said, without the wrapping it came in.
//
// Flow: agent/decode/decoder.h produces records, agent/pipeline parses them with Drain. Views
// point into the decoder's buffers and are valid until the sink returns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/outline.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"
#include "common/wire/batch.h"

namespace l4::decode {

/// Who says a line, as far as the line's own prefixes tell.
struct Speaker {
  std::string_view host;                   ///< from `host: ` prefixes; empty if none
  std::optional<Rank> rank;                ///< global: `[rank4]:`, `rank=4`, ` 13: ` (srun -l)
  std::optional<std::int32_t> local_rank;  ///< torchrun's tee prefix `[default3]:`
};

struct Record {
  /// Not `= default`: one of them is made for each line, and where all members are constants GCC
  /// clears the whole with `rep stos`, which takes several times as long as storing them.
  Record() {}

  /// Message without envelope, prefixes, time stamp and ANSI. For a folded traceback the line that
  /// names the exception.
  std::string_view text;
  std::optional<TimeMs> time;  ///< as printed; never guessed
  Level level = Level::unknown;
  Speaker speaker;
  std::span<const std::uint64_t> lines;  ///< physical lines from 1, ascending, at least one
  wire::ByteRange bytes;                 ///< of the decompressed file, from first to last line
  std::uint32_t updates = 0;             ///< CR updates folded into this line
  /// Count and total of the progress bar on this line, also where text behind the bar is `text`.
  std::optional<std::int64_t> progress, progress_total;
  std::string_view stack;  ///< of a Python traceback, see agent/decode/stack.h; else empty
  Outline outline;         ///< of `text`, where that is a part of a line; else none
  bool folded = false;     ///< several lines: traceback, stack, banner table
};

}  // namespace l4::decode
