#include "aggregator/faults/likeness.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "common/base/ascii.h"

namespace l4::faults {
namespace {

constexpr std::size_t kVoters = 8;

/// The end of the word that begins at `at`; `NCCLError` is `NCCL` and `Error`.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_upper(text[end])) ++end;
  const bool lower_follows = end < text.size() && is_lower(text[end]);
  if (end - at > 1) return lower_follows ? end - 1 : end;
  while (end < text.size() && is_lower(text[end])) ++end;
  return end;
}

double weight_by(std::size_t holders, std::size_t all) {
  return std::log(static_cast<double>(all) /
                  static_cast<double>(std::max<std::size_t>(holders, 1)));
}

/// P(right), interpolated between two measured points: score, share of right guesses.
double confidence_of(double score) {
  constexpr std::pair<double, double> kLow{Likeness::kScoreMin, 0.6}, kHigh{0.35, 0.75};
  const double share = (score - kLow.first) / (kHigh.first - kLow.first);
  return std::clamp(kLow.second + share * (kHigh.second - kLow.second), 0.0,
                    Likeness::kConfidenceMax);
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_upper(text[at]) && !is_lower(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_word(text, at);
    if (end - at > 1) {
      std::string& word = words.emplace_back(text.substr(at, end - at));
      for (char& c : word) c = is_upper(c) ? static_cast<char>(c | 0x20) : c;
    }
    at = end;
  }
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

Likeness::Likeness(std::span<const Fault> faults) {
  std::vector<std::vector<std::string>> words;
  for (const Fault& fault : faults) {
    if (fault.consequence || fault.severity == Level::info) continue;
    std::string text = fault.title;
    for (const std::string& line : fault.matches) text.append(" ").append(line);
    words.push_back(words_of(text));
    for (const std::string& word : words.back())
      holders_[word].push_back(static_cast<std::uint32_t>(known_.size()));
    known_.push_back({&fault, 0});
  }
  for (std::size_t i = 0; i < known_.size(); ++i) {
    double sum = 0;
    for (const std::string& word : words[i]) {
      const double weight = weight_by(holders_.at(word).size(), known_.size());
      sum += weight * weight;
    }
    known_[i].length = std::sqrt(sum);
  }
}

double Likeness::weight_of(const std::string& word) const {
  const auto held = holders_.find(word);
  return weight_by(held == holders_.end() ? 1 : held->second.size(), known_.size());
}

Likeness::Ranking Likeness::ranking_of(const std::vector<std::string>& words) const {
  std::unordered_map<std::uint32_t, double> shared;
  double length = 0;
  for (const std::string& word : words) {
    const double weight = weight_of(word);
    length += weight * weight;
    const auto held = holders_.find(word);
    if (held == holders_.end()) continue;
    for (const std::uint32_t holder : held->second) shared[holder] += weight * weight;
  }
  Ranking near;
  for (const auto& [holder, sum] : shared)
    if (sum > 0) near.emplace_back(sum / (std::sqrt(length) * known_[holder].length), holder);
  std::ranges::sort(near, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return near;
}

std::vector<Likeness::Near> Likeness::near(std::string_view text, std::size_t most) const {
  std::vector<std::string> words = words_of(text);
  std::ranges::stable_sort(words, std::greater<>{},
                           [this](const std::string& word) { return weight_of(word); });
  Ranking ranking = ranking_of(words);
  ranking.resize(std::min(ranking.size(), most));
  std::vector<Near> found;
  for (const auto& [likeness, holder] : ranking) {
    Near& near = found.emplace_back(known_[holder].fault, likeness);
    for (const std::string& word : words) {
      const auto held = holders_.find(word);
      if (near.shared.size() < kSharedMax && held != holders_.end() && weight_of(word) > 0 &&
          std::ranges::binary_search(held->second, holder))
        near.shared.push_back(word);
    }
  }
  return found;
}

std::optional<Likeness::Placement> Likeness::nearest(std::string_view text) const {
  Ranking near = ranking_of(words_of(text));
  near.resize(std::min(near.size(), kVoters));
  std::map<std::pair<Category, std::string>, double> votes;
  double all = 0;
  for (const auto& [likeness, holder] : near) {
    const Fault& fault = *known_[holder].fault;
    votes[{fault.category, fault.subcategory}] += likeness * likeness;
    all += likeness * likeness;
  }
  if (votes.empty()) return std::nullopt;
  const auto best =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  Placement placement{best->first.first, best->first.second};
  for (const auto& [likeness, holder] : near) {
    const Fault& fault = *known_[holder].fault;
    if (fault.category != placement.category || fault.subcategory != placement.subcategory)
      continue;
    placement.nearest = &fault;
    placement.score = likeness * best->second / all;
    break;
  }
  placement.confidence = confidence_of(placement.score);
  return placement;
}

std::optional<Likeness::Placement> Likeness::place(std::span<const std::string> texts) const {
  std::optional<Placement> best;
  for (const std::string& text : texts)
    if (auto one = nearest(text);
        one && one->score >= kScoreMin && (!best || one->score > best->score))
      best = std::move(one);
  return best;
}

}  // namespace l4::faults
