#include "tools/l4/terminal/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/nearest.h"

namespace l4::terminal {

std::string did_you_mean(const std::string& typo, const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 4;
  const std::vector<std::string> near = nearest_words(typo, words, kMost);
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i)
    text += (i == 0 ? "; did you mean " : i + 1 == near.size() ? " or " : ", ") + near[i];
  return near.empty() ? text : text + "?";
}

std::function<std::string(const std::string&)> one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& given) {
    if (std::ranges::find(words, given) != words.end()) return std::string();
    return fmt::format("{} is none of {}{}", given, fmt::join(words, ", "),
                       did_you_mean(given, words));
  };
}

}  // namespace l4::terminal
