#include "common/drain/flood.h"

#include <algorithm>

namespace l4::drain {
namespace {

constexpr std::uint32_t kFreshShare = 32;  // one line in so many begins a flood
constexpr std::uint32_t kCalmShare = 128;  // and ends it
constexpr std::uint32_t kWordsMin = 2;     // that a half must have

/// Both halves of a line that say enough, as keys.
template <class Take>
void each_half(const MaskedLine& line, Take take) {
  for (std::size_t half = 0; half < 2; ++half) {
    const auto& [sum, words] = line.halves[half];
    if (words < kWordsMin || words * 4 < line.tokens) continue;
    if (take(fold(sum + line.tokens * kHashA, half == 0 ? kHashB : kHashC))) return;
  }
}

}  // namespace

void Flood::judge() {
  const bool other = on_ ? fresh_ * kCalmShare < kWindow : fresh_ * kFreshShare >= kWindow;
  windows_ = other ? windows_ + 1 : 0;
  if (windows_ == kWindowsMin) {
    on_ = !on_;
    windows_ = 0;
  }
  lines_ = fresh_ = 0;
}

void Flood::remember(const MaskedLine& line, std::uint32_t id, bool alert, bool replace) {
  if (halves_.size() + 2 > entries_max_) halves_ = FlatTable<Half>();
  each_half(line, [&](std::uint64_t key) {
    Half& half = halves_[key];
    if (!half.taken || replace) half = {id, true, alert};
    return false;
  });
}

std::optional<std::uint32_t> Flood::find(const MaskedLine& line, bool alert) const {
  std::optional<std::uint32_t> found;
  each_half(line, [&](std::uint64_t key) {
    const Half* half = halves_.find(key);
    if (half != nullptr && (half->alert || !alert)) found = half->id;
    return found.has_value();
  });
  return found;
}

}  // namespace l4::drain
