#include "common/base/nearest.h"

#include <algorithm>
#include <utility>

namespace l4 {
namespace {

/// Letters to add, drop, replace or swap with their neighbour to make `b` of `a`.
std::size_t letters_wrong(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& here = least[i][j] = std::max(i, j);
      if (i == 0 || j == 0) continue;
      here = std::min(
          {least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        here = std::min(here, least[i - 2][j - 2] + 1);
    }
  return least[a.size()][b.size()];
}

}  // namespace

std::vector<std::string> nearest_words(const std::string& typo,
                                       const std::vector<std::string>& words, std::size_t most) {
  std::vector<std::pair<std::size_t, const std::string*>> near;
  for (const std::string& word : words) {
    const std::size_t wrong =
        typo.size() > 2 && word.starts_with(typo) ? 1 : letters_wrong(typo, word);
    if (wrong < typo.size() / 3 + 2) near.emplace_back(wrong, &word);
  }
  std::ranges::stable_sort(near, {}, [](const auto& one) { return one.first; });
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(most, near.size()); ++i) nearest.push_back(*near[i].second);
  return nearest;
}

std::string nearest_word(const std::string& typo, const std::vector<std::string>& words) {
  const auto nearest = nearest_words(typo, words, 1);
  return nearest.empty() ? "" : nearest.front();
}

}  // namespace l4
