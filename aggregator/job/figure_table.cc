#include "aggregator/job/figure_table.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "common/saved/archive.h"

namespace l4::job {
namespace {

bool is_same_number(const wire::FigureWindow& a, const wire::FigureWindow& b) {
  return a.kind == b.kind && a.name == b.name;
}

}  // namespace

void FigureTable::add(const wire::FigureWindow& window, std::size_t windows_max) {
  std::size_t numbers = 0;
  bool known = false;
  for (std::size_t i = 0; i < windows_.size() && !known; ++i) {
    known = is_same_number(windows_[i], window);
    const auto begin = windows_.begin();
    const bool first =
        std::none_of(begin, begin + static_cast<std::ptrdiff_t>(i),
                     [&](const auto& before) { return is_same_number(before, windows_[i]); });
    numbers += first ? 1 : 0;
  }
  if (!known && numbers >= kNumbersMax) return;
  windows_.push_back(window);
  while (windows_.size() > std::max(windows_max, kNumbersMax + 1)) join_oldest();
}

void FigureTable::join_oldest() {
  const auto most = std::ranges::max_element(windows_, {}, [&](const auto& window) {
    return std::ranges::count_if(windows_,
                                 [&](const auto& other) { return is_same_number(window, other); });
  });
  const auto same = [&number = *most](const auto& other) { return is_same_number(number, other); };
  const auto first = std::ranges::find_if(windows_, same);
  const auto second = std::find_if(first + 1, windows_.end(), same);
  L4_CHECK(second != windows_.end(), "{} windows of more numbers than may be", windows_.size());
  *second = joined(*first, *second);
  windows_.erase(first);
}

template <class Archive, class Self>
void FigureTable::persist(Archive& archive, Self& self) {
  archive.list(self.windows_, 14, [&](auto& window) {
    archive(window.source);
    archive.enumerator(window.kind, wire::FigureKind::rate);
    archive(window.name, window.first, window.last, window.count, window.not_finite, window.run,
            window.run_from, window.least, window.median, window.most, window.final);
  });
  if constexpr (Archive::kLoads)
    for (const wire::FigureWindow& window : self.windows_)
      archive.require(window.not_finite <= window.count && window.run <= window.count &&
                      std::isfinite(window.median));
}

void FigureTable::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void FigureTable::load(ByteReader& in) {
  saved::Reader archive(in);
  persist(archive, *this);
}

}  // namespace l4::job
