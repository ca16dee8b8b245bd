#include "aggregator/detect/temporal/patterns.h"

#include <algorithm>
#include <cmath>

#include "aggregator/numbers/temporal.h"

namespace l4::detect::temporal {
namespace {}  // namespace

PatternRef SharedPatterns::find(std::uint64_t hash) const {
  const auto it = by_hash_.find(hash);
  return it == by_hash_.end() ? nullptr : *it->second;
}

void SharedPatterns::see(const PatternRef& pattern) {
  const auto it = by_hash_.find(pattern->hash);
  if (it != by_hash_.end()) {
    order_.splice(order_.begin(), order_, it->second);
    return;
  }
  if (capacity_ == 0) return;
  if (order_.size() >= capacity_) {
    by_hash_.erase(order_.back()->hash);
    order_.pop_back();
  }
  order_.push_front(pattern);
  by_hash_[pattern->hash] = order_.begin();
}

const StreamPatterns::Prototype* StreamPatterns::find(std::uint64_t hash) const {
  const auto it = std::ranges::find_if(
      prototypes_, [&](const Prototype& one) { return one.pattern->hash == hash; });
  return it == prototypes_.end() ? nullptr : &*it;
}

void StreamPatterns::see(const PatternRef& pattern, double seconds, std::size_t recent,
                         std::size_t distinct) {
  recent_.insert(recent_.begin(), pattern);
  if (recent_.size() > recent) recent_.pop_back();
  auto it = std::ranges::find_if(
      prototypes_, [&](const Prototype& one) { return one.pattern->hash == pattern->hash; });
  if (it == prototypes_.end()) {
    if (prototypes_.size() >= std::max<std::size_t>(1, distinct)) prototypes_.pop_back();
    it = prototypes_.insert(prototypes_.begin(), Prototype{pattern, {}});
  } else {
    std::rotate(prototypes_.begin(), it, it + 1);
    it = prototypes_.begin();
  }
  if (!(seconds > 0) || !std::isfinite(seconds)) return;
  auto& known = it->log_seconds;
  if (known.size() >= numbers::temporal().durations) known.erase(known.begin());
  known.push_back(std::log(seconds));
}

}  // namespace l4::detect::temporal
