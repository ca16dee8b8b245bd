// The constant text that every match of a regexp must contain, derived from the regexp.
//
// Flow: computed once per pattern. The literals decide which regexps are tried on a text at all
// (common/base/literal_index.h) and which of two matching patterns is more specific. Parses RE2's
// syntax; where it is not sure, it requires less. Pure functions, no state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace l4::faults {

/// Lower case (ASCII), one blank for a run of blanks: the form in which literals are compared.
std::string plain_form(std::string_view text);

struct Literals {
  /// Every match contains at least one text of each group. Texts are in plain form, never empty.
  std::vector<std::vector<std::string>> groups;
  /// Minimum of constant characters in a match.
  std::size_t characters = 0;

  /// The largest, over all groups, of the length of a group's shortest text; 0 without a group.
  std::size_t longest() const;
};

/// `regexp` must be one that RE2 accepts.
Literals literals_of(std::string_view regexp);

}  // namespace l4::faults
