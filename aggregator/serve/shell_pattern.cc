#include "aggregator/serve/shell_pattern.h"

#include <fnmatch.h>

namespace l4::serve {

bool matches_pattern(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string_view fixed_start(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of("*?[\\"));
}

}  // namespace l4::serve
