// The constant text that every match of a regexp must hold, read off the regexp itself.
//
// Flow: Library::load asks once per pattern. What is found decides which regexps are tried on a
// text at all (literal_index.h) and which of two answers is the more specific. Knows RE2's syntax
// well enough to be sure; where it is not, it asks for less. Pure functions, no state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace l4::faults {

/// Lower case (ASCII), and one blank for a run of blanks: the form in which literals are compared.
std::string plain_form(std::string_view text);

struct Literals {
  /// Every match holds at least one text of each group. In plain form, never empty.
  std::vector<std::vector<std::string>> groups;
  /// How many constant characters every match has at least.
  std::size_t characters = 0;

  /// Length of the shortest text of the group in which that is longest; 0 without a group.
  std::size_t longest() const;
};

/// `regexp` must be one that RE2 accepts.
Literals literals_of(std::string_view regexp);

}  // namespace l4::faults
