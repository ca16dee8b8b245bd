// How bad a template sounds, by its words alone.
//
// Place in the flow: detect/crash, detect/slow and diagnosis use it where neither the fault library
// nor a printed level says anything. Levels mislead (docs/DESIGN.md, "Facts about real logs"): half
// of the lines that tell of a failure are not at error level, and healthy runs print errors. So
// wording is only a weight; time and place of new events decide. Pure; one pass over the text, no
// allocation.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/vocabulary.h"

namespace l4::detect {

/// Grows with the damage that is said to be done.
enum class Severity : std::uint8_t {
  none,     ///< says nothing of a failure
  notice,   ///< a warning, a retry, something missing that may be optional
  failure,  ///< something failed
  fatal,    ///< a process ends or cannot go on
};

Severity severity_of(std::string_view text, Level level);

/// "Loss is nan, stopping training": the program ends itself because of a failure that it names,
/// and not because it learns nothing more ("Early stopping: the error did not improve").
bool stops_for_failure(std::string_view text);

/// "Cmd('git') failed due to: exit code(128)", "git rev-parse exited with status 128": what ended
/// is a program that was asked for something, and the one that asked goes on without the answer.
bool tells_of_asked(std::string_view text);

/// "x.py:12: FutureWarning: ..": a warning of Python, behind which the program goes on.
bool is_python_warning(std::string_view text);

/// The text has the form of an exception: its name comes first, or behind a short prefix.
bool says_at_front(std::string_view text);

inline constexpr std::string_view kTracebackHead = "Traceback (most recent call last)";

/// The head of an exception that ended a thread of a program, which goes on without it.
bool is_head_of_thread(std::string_view text);

/// The kind of the exception that a text has the form of: its name and the first words of its
/// message; kTracebackHead if only that is there. Empty for other texts.
std::string_view exception_kind(std::string_view text);

}  // namespace l4::detect
