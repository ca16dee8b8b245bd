#include "aggregator/watch/pace.h"

#include <algorithm>

#include "aggregator/numbers/watch.h"
#include "common/saved/archive.h"

namespace l4::watch {
namespace {

double quartile(std::vector<double> values) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::ranges::nth_element(values, place);
  return *place;
}

}  // namespace

void Pace::add(double iteration_ms) {
  if (iteration_ms <= 0) return;
  kept_.push_back(iteration_ms);
  ++added_;
  // While the job is slow the earlier durations are kept and the newest are dropped.
  if (kept_.size() > kKept)
    kept_.erase(slower_ || stutters_
                    ? kept_.end() - static_cast<std::ptrdiff_t>(numbers::watch().pace_recent) - 1
                    : kept_.begin());
  if (kept_.size() < numbers::watch().pace_before + numbers::watch().pace_recent) return;
  const auto split = kept_.end() - static_cast<std::ptrdiff_t>(numbers::watch().pace_recent);
  const double recent = quartile({split, kept_.end()});
  if (!slower_ && !stutters_) before_ms_ = quartile({kept_.begin(), split});
  ratio_ = before_ms_ > 0 ? recent / before_ms_ : 1;
  slow_ms_ += slower_ || stutters_ ? iteration_ms : 0;
  note_long(iteration_ms);
  if (ratio_ > numbers::watch().pace_ratio && !slower_) {
    if (!stutters_) begin_slow_phase(numbers::watch().pace_recent);
    slower_ = true;
  }
  if (slower_ && ratio_ < numbers::watch().pace_over) {
    slower_ = false;
    wait_ = 0;
  }
}

void Pace::begin_slow_phase(std::size_t iterations) {
  slow_ms_ = 0;
  const auto newest = std::min(iterations, kept_.size());
  for (auto at = kept_.end() - static_cast<std::ptrdiff_t>(newest); at != kept_.end(); ++at)
    slow_ms_ += *at;
}

/// A link that loses packets makes some iterations long, and leaves the typical one as it was.
void Pace::note_long(double iteration_ms) {
  if (judged_ >= numbers::watch().pace_newest && !stutters_) {
    const double weight = std::min(numbers::watch().pace_memory,
                                   static_cast<double>(judged_ - numbers::watch().pace_newest + 1));
    const double leaves = (longs_ >> (numbers::watch().pace_newest - 1) & 1U) != 0 ? 1 : 0;
    earlier_longs_ += (leaves - earlier_longs_) / weight;
  }
  ++judged_;
  longs_ = (longs_ << 1U | (iteration_ms >= numbers::watch().pace_long * before_ms_ ? 1U : 0U)) &
           ((1U << numbers::watch().pace_newest) - 1);
  const int longs = std::popcount(longs_);
  if (judged_ < numbers::watch().pace_newest + numbers::watch().pace_before) return;
  if (!stutters_ && longs >= numbers::watch().pace_many &&
      longs >= (earlier_longs_ + numbers::watch().pace_rise) * numbers::watch().pace_newest) {
    if (!slower_) begin_slow_phase(numbers::watch().pace_newest);
    stutters_ = true;
  }
  if (stutters_ && longs <= std::max<double>(numbers::watch().pace_few,
                                             earlier_longs_ * numbers::watch().pace_newest)) {
    stutters_ = false;
    wait_ = slower_ ? wait_ : 0;
  }
}

bool Pace::ask() {
  if (!slower() || (wait_ > 0 && added_ < asked_at_ + wait_)) return false;
  wait_ = std::max(numbers::watch().pace_recent, 2 * wait_);
  asked_at_ = added_;
  return true;
}

template <class Archive, class Self>
void Pace::persist(Archive& archive, Self& self) {
  archive.list(self.kept_, sizeof(double), [&](auto& ms) { archive(ms); });
  archive.require(self.kept_.size() <= kKept);
  archive(self.added_, self.asked_at_, self.wait_, self.ratio_, self.before_ms_, self.slow_ms_,
          self.slower_);
}

void Pace::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void Pace::load(ByteReader& in) {
  saved::Reader archive(in);
  persist(archive, *this);
}

}  // namespace l4::watch
