// The pattern of a fault, distilled from the template of one line that showed it.
//
// Flow: the template of a confirmed incident and the names that vary from node to node -> a pattern
// in the notation of the library (notation.h), with the codes of the line as conditions. Each `<*>`
// of the template, and each known name, address, path or device in it, becomes `.*`, so that the
// pattern matches the same fault on another node with other numbers. Constant text and codes must
// match. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/faults/fault.h"

namespace l4::faults {

struct Distilled {
  std::string pattern;  ///< empty if no constant text is left
  std::vector<Condition> conditions;
  std::size_t characters = 0;  ///< constant characters that every match has
};

/// A pattern with fewer constant characters is not specific enough, unless it requires a code.
inline constexpr std::size_t kConstantMin = 12;
/// A pattern has at most this many words, the first ones of the line.
inline constexpr std::size_t kPatternWordsMax = 32;

/// `names`: names of nodes and others that vary. `parameters`: the values of the event, for codes
/// that the template does not show.
Distilled distil(std::string_view template_text, std::span<const std::string> names,
                 std::span<const wire::Parameter> parameters);

/// A line made of the template, used if the line itself is not available: `<*>` becomes a number.
std::string line_of(std::string_view template_text);

}  // namespace l4::faults
