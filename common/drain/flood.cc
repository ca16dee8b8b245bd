#include "common/drain/flood.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace l4::drain {
namespace {

constexpr std::uint32_t kFreshShare = 32;  // one line in so many begins a flood
constexpr std::uint32_t kManyShare = 8;    // or one in so many, sooner
constexpr std::uint32_t kCalmShare = 128;  // and ends it
constexpr std::size_t kHalves = 6;         // that a line has
constexpr std::uint32_t kWordsMin = 2;     // that a half must have

/// Each two quarters of a line that say enough, as a key.
template <class Take>
void each_half(const MaskedLine& line, Take take) {
  std::uint64_t half = 0;
  for (std::size_t a = 0; a < line.quarters.size(); ++a)
    for (std::size_t b = a + 1; b < line.quarters.size(); ++b) {
      ++half;
      const std::uint32_t words = line.quarters[a].words + line.quarters[b].words;
      if (words < kWordsMin || words * 4 < line.tokens) continue;
      const std::uint64_t sum = line.quarters[a].sum + line.quarters[b].sum + line.values;
      if (take(fold(sum + line.tokens * kHashA, kHashB + half * kHashC))) return;
    }
}

}  // namespace

void Flood::judge() {
  const bool other = on_ ? fresh_ * kCalmShare < kWindow : fresh_ * kFreshShare >= kWindow;
  windows_ = other ? windows_ + 1 : 0;
  many_ = !on_ && fresh_ * kManyShare >= kWindow ? many_ + 1 : 0;
  if (windows_ == kWindowsMin || many_ == kWindowsMany) {
    on_ = !on_;
    windows_ = many_ = 0;
  }
  lines_ = fresh_ = 0;
}

void Flood::remember(const MaskedLine& line, std::uint32_t id, bool alert, bool replace) {
  if (halves_.size() + kHalves > entries_max_) {
    halves_ = FlatTable<Half>();
    age_ = age_ == std::numeric_limits<std::uint8_t>::max() ? 1 : age_ + 1;
  }
  each_half(line, [&](std::uint64_t key) {
    Half& half = halves_[key];
    if (!half.taken || replace) half = {id, true, alert};
    return false;
  });
}

std::optional<std::uint32_t> Flood::find(const MaskedLine& line, bool alert) const {
  std::optional<std::uint32_t> found;
  each_half(line, [&](std::uint64_t key) {
    const Half* half = frozen_size_ > 0 ? frozen_.find(key) : halves_.find(key);
    if (half != nullptr && (half->alert || !alert)) found = half->id;
    return found.has_value();
  });
  return found;
}

void Flood::freeze() {
  std::vector<std::pair<std::uint64_t, Half>> kept;
  kept.reserve(halves_.size());
  halves_.for_each_entry(
      [&](std::uint64_t key, const Half& half) { kept.emplace_back(key, half); });
  frozen_size_ = kept.size();
  frozen_ = SortedTable(std::move(kept));
  halves_ = FlatTable<Half>();
}

}  // namespace l4::drain
