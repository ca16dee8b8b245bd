// The shape of a line: the part that it plays in a traceback, native stack, warning or usage
// message.
//
// These rules see single lines; agent/decode/fold.h decides which lines belong together. Pure
// functions on the message with its indentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/text/scan.h"
#include "common/base/vocabulary.h"

namespace l4::decode {

enum class Shape : std::uint8_t {
  plain,
  traceback,    ///< `Traceback (most recent call last):`
  ignored,      ///< `Exception ignored in: <object>`, before the traceback
  file_frame,   ///< `  File "x.py", line 3, in f`
  exception,    ///< `ValueError: text`, `KeyboardInterrupt`
  chain,        ///< `During handling of the above exception, ...`
  group,        ///< `  | ...`, `  +-+----`: exception groups; rich's boxes
  terminate,    ///< `terminate called ...`
  what,         ///< `  what():  text`
  frame,        ///< `frame #3: ...`, `#3 0x..`, `    @ 0x..`, `[ 3] /lib/..`
  raised,       ///< `Exception raised from ...`
  note,         ///< fixed text that follows CUDA and NCCL errors
  fatal,        ///< `Fatal Python error: ..`, `*** SIGSEGV ..`, panics, signal blocks
  thread,       ///< `Thread 0x.. (most recent call first):`, `goroutine 1 [running]:`
  warning,      ///< `x.py:3: FutureWarning: text`
  usage,        ///< `usage: prog ...`
  usage_error,  ///< `prog: error: text`
  rule,         ///< a line of `=`, `-` or `*`
  indented,     ///< begins with a tab or two blanks, and has no other shape
};

/// `level` of the line; shapes that need another level are not tried.
Shape shape_of(std::string_view body, Level level);

/// Number of blanks at the front; a tab counts as four.
std::size_t indent_of(std::string_view body);

/// True for `Name: text` if Name is spelt like a class: an exception, if a traceback is open.
bool class_like(std::string_view body);

/// True for `main.run(0x7)`: a line of a goroutine's stack, if one is open.
bool go_function(std::string_view body);

/// True for a line that ends with a colon and tells of ranks, tasks or nodes ("Missing ranks:"),
/// and for the first one of a box ("=   BAD TERMINATION ..").
bool lists_below(std::string_view body);
/// False for nearly all lines, of which lists_below() need not be asked.
inline bool may_list_below(std::string_view body) {
  return !body.empty() &&
         (body.front() == '=' || body.back() == ':' || text::is_blank(body.back()));
}
/// True for a row of such a list: "2: [tensor, ..]", "/job:worker/task:3", "- node-4".
bool list_row(std::string_view body);

/// True for lines of torchrun's failure table (`ChildFailedError`) and of MindSpore's sections.
bool table_line(std::string_view body);

}  // namespace l4::decode
