// What a line says about the end of a program, of a job, or of the process that wrote the log.
//
// Place in the flow: detect/ending asks it for each template, and wording.h which exit codes are
// good ones. The forms stand in one table, each with an example line. A line of such a form may
// also stand in mid-training (a data set's job, an evaluation), so a detector counts it only behind
// the last progress. Pure; one pass over the text, no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace l4::detect {

enum class Ending : std::uint8_t {
  none,
  kept,    ///< the result is there: the final model was saved, totals of the run were printed
  left,    ///< the writer has ended and nobody says how: a shell's prompt, a batch system's account
  tidied,  ///< the same, and the program itself closes what it used: it was not killed
  asked,   ///< the program says that a signal or a limit asks it to end, which it does
  gone,    ///< somebody cleans up behind a process that did not do so itself
  well,    ///< a launcher, a batch system or a tracker says that it ended well
  badly,   ///< the same, that it ended with an error
};

Ending ending_of(std::string_view text);

/// The exit code that a text reports ("exited with exit code 0", "return code = -6").
std::optional<int> exit_code_in(std::string_view text);

/// The first thing on the line is a shell's prompt: "[user@node dir]$ ", "root@node:/data# ls".
bool has_prompt(std::string_view text);

/// Lower-case text. A blank stands for one or more blanks, `*` for any text, `{a|b}` for one of
/// several; `^` is the begin of the line, else a form begins with a word; `$` is the end, except
/// for punctuation.
struct EndingForm {
  Ending ending;
  std::string_view form;
  std::string_view example;
};
std::span<const EndingForm> ending_forms();

}  // namespace l4::detect
