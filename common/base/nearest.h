// The word that a mistyped one probably stands for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace l4 {

/// The words of `words` that are near to `typo`, or begin with it, nearest first, at most `most`.
std::vector<std::string> nearest_words(const std::string& typo,
                                       const std::vector<std::string>& words, std::size_t most);

/// The nearest word; empty if no word is near.
std::string nearest_word(const std::string& typo, const std::vector<std::string>& words);

}  // namespace l4
