#include "common/drain/flood.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace l4::drain {
namespace {

constexpr std::size_t kHalves = 6;      // halves of a line
constexpr std::uint32_t kWordsMin = 2;  // words of a half

/// Passes the key of each two quarters of a line that have enough words, until `visit` returns
/// true.
template <class Visit>
void each_half(const MaskedLine& line, Visit visit) {
  std::uint64_t half = 0;
  for (std::size_t a = 0; a < line.quarters.size(); ++a)
    for (std::size_t b = a + 1; b < line.quarters.size(); ++b) {
      ++half;
      const std::uint32_t words = line.quarters[a].words + line.quarters[b].words;
      if (words < kWordsMin || words * 4 < line.tokens) continue;
      const std::uint64_t sum = line.quarters[a].sum + line.quarters[b].sum + line.values;
      if (visit(fold(sum + line.tokens * kHashA, kHashB + half * kHashC))) return;
    }
}

}  // namespace

void Flood::judge() {
  bool begins = false;
  for (std::size_t i = 0; i < kBegins.size(); ++i) {
    windows_[i] = fresh_ * kBegins[i].one_in >= kWindow ? windows_[i] + 1 : 0;
    begins = begins || windows_[i] >= kBegins[i].windows;
  }
  calm_ = fresh_ * kCalmShare < kWindow ? calm_ + 1 : 0;
  on_ = on_ ? calm_ < kCalmWindows : begins;
  lines_ = fresh_ = 0;
}

void Flood::remember(const MaskedLine& line, std::uint32_t id, bool alert, bool replace) {
  if (halves_.size() + kHalves > entries_max_) {
    halves_ = FlatTable<Half>();
    age_ = age_ == std::numeric_limits<std::uint8_t>::max() ? 1 : age_ + 1;
  }
  each_half(line, [&](std::uint64_t key) {
    Half& half = halves_[key];
    if (!half.claimed || replace) half = {id, true, alert};
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
