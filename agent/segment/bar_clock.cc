#include "agent/segment/bar_clock.h"

#include <algorithm>

namespace l4::segment {

void BarClock::stamp(TimeMs time) {
  for (Bar& bar : bars_) bar.time = std::min(bar.time, time);
  newest_ = time;
}

std::optional<TimeMs> BarClock::drawn(std::int64_t total, Millis clock, Millis on_line) {
  if (!newest_) return std::nullopt;
  const TimeMs begun = *newest_ + on_line;  // if nothing else is known
  auto bar = std::ranges::find(bars_, total, &Bar::total);
  if (bar == bars_.end()) {
    bar = bars_.begin() + static_cast<std::ptrdiff_t>(next_);
    next_ = (next_ + 1) % kBars;
    *bar = {total, clock, begun};
  }
  const bool again = clock < bar->clock;  // another loop of as many steps
  const TimeMs time = again ? begun : bar->time + (clock - bar->clock);
  newest_ = std::max(*newest_, time);
  *bar = {total, clock, *newest_};
  return newest_;
}

}  // namespace l4::segment
