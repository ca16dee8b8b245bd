#include "aggregator/watch/pace.h"

#include <algorithm>

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
    kept_.erase(slower_ ? kept_.end() - static_cast<std::ptrdiff_t>(kRecent) - 1 : kept_.begin());
  if (kept_.size() < kBefore + kRecent) return;
  const auto split = kept_.end() - static_cast<std::ptrdiff_t>(kRecent);
  const double recent = quartile({split, kept_.end()});
  if (!slower_) before_ms_ = quartile({kept_.begin(), split});
  ratio_ = before_ms_ > 0 ? recent / before_ms_ : 1;
  slow_ms_ += slower_ ? iteration_ms : 0;
  if (ratio_ > kRatio && !slower_) {
    slower_ = true;
    slow_ms_ = 0;
    for (auto at = split; at != kept_.end(); ++at) slow_ms_ += *at;
  }
  if (slower_ && ratio_ < kOver) {
    slower_ = false;
    wait_ = 0;
  }
}

bool Pace::ask() {
  if (!slower() || (wait_ > 0 && added_ < asked_at_ + wait_)) return false;
  wait_ = std::max(kRecent, 2 * wait_);
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
