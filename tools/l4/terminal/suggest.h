// Words that are near to a misspelt one.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace l4::terminal {

/// "; did you mean a, b or c?"; empty if none of `words` is near.
std::string did_you_mean(const std::string& typo, const std::vector<std::string>& words);

/// A check for OptionRow: returns an empty text for one of these words, and the complaint for any
/// other word.
std::function<std::string(const std::string&)> one_of(std::vector<std::string> words);

}  // namespace l4::terminal
