#include "common/wire/clock_filter.h"

#include <algorithm>
#include <chrono>

namespace l4::wire {
namespace {

constexpr Millis kStep{1'000};

Millis distance(Instant now) {
  return now.wall.time_since_epoch() - now.steady;
}

}  // namespace

void ClockFilter::measured(Instant sent, TimeMs received, TimeMs replied, Instant back) {
  const Millis now = distance(back);
  if (count_ > 0 && std::chrono::abs(now - wall_against_steady_) > kStep) count_ = 0;
  wall_against_steady_ = now;
  if (std::chrono::abs(now - distance(sent)) > kStep)
    return;  // the clock was set while the message was under way
  const Millis trip = back.steady - sent.steady;
  const Millis theirs = replied - received;
  if (theirs < Millis{0} || trip < theirs) return;  // the other end's clock was set
  const Millis offset = ((received - sent.wall) + (replied - (sent.wall + trip))) / 2;
  samples_[count_ % kSamples] = {offset, trip - theirs};
  ++count_;
}

std::optional<ClockFilter::Estimate> ClockFilter::estimate() const {
  if (count_ == 0) return std::nullopt;
  const auto* end = samples_.begin() + std::min(count_, kSamples);
  return *std::min_element(samples_.begin(), end,
                           [](const Estimate& a, const Estimate& b) { return a.delay < b.delay; });
}

}  // namespace l4::wire
