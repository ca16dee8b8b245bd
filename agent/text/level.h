// Severity of a line: from a structured position first, else from a few safe words.
//
// agent/decode/header.h finds structured positions: `[WARNING]`, `ERROR:logger:`, ` - INFO - `,
// `NCCL WARN`, `[rank0 WARNING]`. Safe words hardly ever stand in a healthy line (`Traceback (`,
// `XxxError: `, `srun: error:`). Pure functions.
#pragma once

#include <string_view>

#include "common/base/vocabulary.h"

namespace l4::text {

/// INFO, WARN, CRITICAL ... in capitals, as loggers print them; unknown for other words.
Level level_of_word(std::string_view word);
/// Like level_of_word() in any case (`[Error]`, `warning:`), for words that stand alone in brackets
/// or before a colon at the front.
Level level_of_spelled_word(std::string_view word);
/// The letters of glog and NeMo.
Level level_of_letter(char letter);
/// The words of the kernel and syslog: `warn`, `err`, `crit`, `emerg`.
Level level_of_syslog(std::string_view word);
/// The priorities of syslog and the kernel, 0 to 7.
Level level_of_priority(int priority);
/// `"level": "error"` and `level=error`.
Level level_of_key(std::string_view line);

/// The level that a safe word shows; unknown without one.
Level level_of_message(std::string_view text);

/// The first `SomethingError:` (or Exception, Warning ...) of a text; npos if there is none.
struct NamedClass {
  std::size_t begin = std::string_view::npos, colon = std::string_view::npos;
  Level level = Level::unknown;
};
NamedClass find_exception_class(std::string_view text);
/// True if `word` is the name of an exception class: `ValueError`, `torch.cuda.OutOfMemoryError`.
bool is_exception_name(std::string_view word);

}  // namespace l4::text
