// The numbers that decide in aggregator/detect/evidence.
//
// Place in the flow: each is a row of [number.evidence] in config/scoring.toml, which has its
// bounds and where it is from; a site may put others in force (table.h). Read by all threads,
// written by none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"

namespace l4::numbers {

struct Evidence {
  /// [ranks] a larger number is no rank, where no rank is known but 0
  std::int32_t ranks_max = 100'000;
  /// [times] nor is one so many times beyond the known ones
  std::int32_t ranks_times = 4;
  /// [ranks] a line that names more unknown ones is a list
  std::size_t unknown_max = 3;
  /// [bytes] that a gap in a sentence about an end stands for
  std::size_t ending_gap_max = 120;
  /// [bytes] of a clause that are looked at before a word
  std::size_t clause_max = 100;
  /// [words] before a failure that may deny it
  std::size_t denying_words = 3;
  /// [words] before a failure that may say it was dealt with
  std::size_t dealing_words = 4;
  /// [bytes] of the name of a setting
  std::size_t setting_name_max = 24;
  /// [blanks] between the sign and the text of a changed line
  std::size_t changed_indent_min = 2;
  /// [bytes] of a sentence that guesses a cause
  std::size_t guess_length_min = 24;
  /// [bytes] a stem that is no longer must be a whole word
  std::size_t short_word_max = 4;
  /// [bytes] behind "exit" that may hold its code
  std::size_t exit_code_within = 40;
  /// [bytes] of a prefix of a line
  std::size_t front_max = 80;
  /// [lines] from the word for the end to the end of a report that stands before the output
  std::uint64_t report_lines = 48;
  /// [words] of its message that make the kind of an exception
  int exception_words = 3;
};

inline const Evidence& evidence() {
  return in_force<Evidence>;
}

}  // namespace l4::numbers
