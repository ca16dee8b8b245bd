// Shell patterns for names of jobs, nodes and faults: * and ? and [abc]. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace l4::serve {

/// Whether the whole text has this pattern.
bool matches_pattern(const std::string& pattern, const std::string& text);

/// The part of a pattern before its first character with a meaning of its own: * ? [ or a
/// backslash. The whole of it if there is none.
std::string_view fixed_start(std::string_view pattern);

}  // namespace l4::serve
