// The pattern of a fault, distilled from the template of one line that told of it.
//
// Flow: a confirmed incident's template and what varies from node to node -> a pattern in the
// notation of the library (notation.h), with the codes of the line as conditions. What a template
// shows as `<*>`, and every name, address, path or device that the line is known to hold, becomes
// `.*`, so that the same fault on another node, with other numbers, is matched; constant text, and
// codes, must be there. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/faults/fault.h"

namespace l4::faults {

struct Distilled {
  std::string pattern;  ///< empty if nothing constant is left
  std::vector<Condition> conditions;
  std::size_t characters = 0;  ///< constant ones that every match has
};

/// A pattern of fewer constant characters says too little to be known by, unless it asks for a
/// code.
inline constexpr std::size_t kConstantMin = 12;
/// Words of a line that a pattern holds; of a longer one the first.
inline constexpr std::size_t kPatternWordsMax = 32;

/// `names`: of nodes and whatever else is known to vary. `parameters`: the values that the event
/// was seen with, for codes that the template does not show.
Distilled distil(std::string_view template_text, std::span<const std::string> names,
                 std::span<const wire::Parameter> parameters);

/// A line as the template tells it, for where the line itself is not at hand: `<*>` is a number.
std::string line_of(std::string_view template_text);

}  // namespace l4::faults
