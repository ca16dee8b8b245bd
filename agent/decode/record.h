// A record: a decoded line without envelope, prefixes and time stamp.
//
// Flow: agent/decode/decoder.h produces records, agent/pipeline matches them with templates. Views
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

/// The speaker of a line, as far as the line's own prefixes name it.
struct Speaker {
  std::string_view host;                   ///< from `host: ` prefixes; empty if none
  std::optional<Rank> rank;                ///< global: `[rank4]:`, `rank=4`, ` 13: ` (srun -l)
  std::optional<std::int32_t> local_rank;  ///< torchrun's tee prefix `[default3]:`
  std::optional<std::int32_t> device;      ///< NCCL's `host:pid:tid [3]`: its GPU, which is no rank
};

struct Record {
  /// Not `= default`: a Record is made for each line, and GCC would clear it with `rep stos`, which
  /// takes several times as long as storing the members.
  Record() {}

  /// Message without envelope, prefixes, time stamp and ANSI; for a folded traceback, the line that
  /// names the exception.
  std::string_view text;
  std::optional<TimeMs> time;  ///< the printed time; never guessed
  Level level = Level::unknown;
  Speaker speaker;
  std::span<const std::uint64_t> lines;  ///< physical lines from 1, ascending, at least one
  wire::ByteRange bytes;                 ///< range in the decompressed file, all lines
  std::uint32_t updates = 0;             ///< CR updates folded into this line
  Millis drawn{0};                       ///< for which a bar was drawn on this line, by its clock
  /// Count and total of the progress bar on this line, even if `text` is the text behind the bar.
  std::optional<std::int64_t> progress, progress_total;
  std::string_view bar;      ///< the bar on this line, as drawn, if `text` is none; else empty
  std::string_view stack;    ///< functions of a Python traceback (agent/decode/stack.h); else empty
  std::string_view details;  ///< of a folded record: the lines below `text`, their beginning
  Outline outline;           ///< outline of `text`, if it is part of one line; else none
  bool folded = false;       ///< several lines: traceback, stack, banner table
  bool refused = false;      ///< how a program is used, and which argument it refuses
  bool clock_returned = false;  ///< the few times before were later, by another clock
};

}  // namespace l4::decode
