#include "aggregator/faults/pattern_set.h"

#include <algorithm>
#include <tuple>

namespace l4::faults {

PatternSet::Number PatternSet::add(const std::string& pattern) {
  const auto [at, created] = numbers_.try_emplace(pattern, static_cast<Number>(patterns_.size()));
  if (created) patterns_.emplace_back(expand_pattern(pattern));
  return at->second;
}

void PatternSet::build() {
  numbers_ = {};
  std::unordered_map<std::string_view, std::size_t> patterns_with;
  for (const Pattern& pattern : patterns_)
    for (const auto& group : pattern.literals().groups)
      for (const auto& text : group) ++patterns_with[text];
  // A pattern is indexed by the group whose texts the fewest other patterns contain.
  const auto cost = [&](const std::vector<std::string>& group) {
    const std::size_t shortest = std::ranges::min(group, {}, &std::string::size).size();
    std::size_t others = 0;
    for (const auto& text : group) others += patterns_with[text];
    return std::tuple(shortest < LiteralIndex::kBytes, others, -static_cast<int>(shortest));
  };
  for (Number number = 0; number < patterns_.size(); ++number) {
    const auto& groups = patterns_[number].literals().groups;
    if (groups.empty()) {
      unselective_.push_back(number);
      continue;
    }
    for (const auto& text : std::ranges::min(groups, {}, cost)) index_.add(text, number);
  }
  index_.build();
}

std::vector<PatternSet::Number> PatternSet::matching(std::string_view text) const {
  const std::string plain = plain_form(text);
  std::vector<Number> numbers = index_.find(plain);
  numbers.insert(numbers.end(), unselective_.begin(), unselective_.end());
  std::erase_if(numbers, [&](Number number) {
    return !patterns_[number].may_match(plain) || !patterns_[number].matches(text);
  });
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace l4::faults
