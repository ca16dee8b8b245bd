// Severity of a line: from a structured position first, else from a few safe words.
//
// Structured: `[WARNING]`, `ERROR:logger:`, ` - INFO - `, `NCCL WARN`, `[rank0 WARNING]`, found by
// agent/decode/header.h. Safe words are such that a healthy line hardly has them by chance
// (`Traceback (`, `XxxError: `, `srun: error:`). Pure functions.
#pragma once

#include <string_view>

#include "common/base/vocabulary.h"

namespace l4::text {

/// INFO, WARN, CRITICAL ... in capitals, as loggers print them; unknown for other words.
Level level_of_word(std::string_view word);
/// The same in any case (`[Error]`, `warning:`): only where the word stands alone in brackets or
/// before a colon at the front.
Level level_of_spelled_word(std::string_view word);
/// glog's and NeMo's letters.
Level level_of_letter(char letter);
/// `warn`, `err`, `crit`, `emerg`: kernel and syslog.
Level level_of_syslog(std::string_view word);
/// The priorities of syslog and the kernel, 0 to 7.
Level level_of_priority(int priority);
/// `"level": "error"` and `level=error`.
Level level_of_key(std::string_view line);

/// Words without a structured position.
Level level_of_message(std::string_view text);

/// Position of the `:` of the first `SomethingError:` (or Exception, Warning ...), npos if none.
struct NamedClass {
  std::size_t begin = std::string_view::npos, colon = std::string_view::npos;
  Level level = Level::unknown;
};
NamedClass find_exception_class(std::string_view text);
/// True if `word` is the name of an exception class: `ValueError`, `torch.cuda.OutOfMemoryError`.
bool is_exception_name(std::string_view word);

}  // namespace l4::text
