// What a text states as a fact, apart from what it only mentions.
//
// Place in the flow: wording asks for each word of failure; hints ask before they look for known
// faults. Grammar, not phrases: a word of failure is no statement as a part of a name, as a setting
// with its value, denied, or in a clause about what may, might or should happen; a list of possible
// causes states none of them; a line of source code states nothing. The tables are of function
// words, each row with an example that the test reads. Pure; only a text that guesses is copied.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace l4::detect {

/// A row of a table of words, with a text in which it works.
struct FormRow {
  std::string_view word;
  std::string_view example;
};

/// The word of failure at [begin, end) is only mentioned; it may go on behind `end`.
bool is_mention(std::string_view text, std::size_t begin, std::size_t end);
/// The word at [begin, end) is denied, dealt with, or in a clause about what may happen.
bool is_supposed(std::string_view text, std::size_t begin, std::size_t end);

/// Something was waited for in vain, in the words of any program. For how long tell the parameters.
bool states_wait(std::string_view text);

/// What a text with several possible causes states, and these causes.
struct Guess {
  std::string facts, causes;
};

/// None if the text lists no possible causes: all of it is stated then.
std::optional<Guess> find_guess(std::string_view text);

/// A line of source code, as tracebacks quote it.
bool is_code(std::string_view text);

/// A frame of a native stack: `PC: @ 0x7f94a6f26117 (unknown)`.
bool is_native_frame(std::string_view text);

/// The tables, for their test.
std::span<const FormRow> supposing_words();
std::span<const FormRow> denying_words();
std::span<const FormRow> dealing_words();
std::span<const FormRow> guessing_words();
std::span<const FormRow> code_openings();
std::span<const FormRow> waiting_words();

}  // namespace l4::detect
