#include "aggregator/live/even_clock.h"

#include <algorithm>
#include <utility>

namespace l4::live {
namespace {

/// The time of `anchor`, continued evenly and corrected towards the host's time.
TimeMs even(const wire::Instant& anchor, const wire::Instant& read) {
  const Millis passed = std::max(read.steady - anchor.steady, Millis{0});
  const TimeMs straight = anchor.wall + passed;
  const Millis most = passed / EvenClock::kSlew;
  return straight + std::clamp<Millis>(read.wall - straight, -most, most);
}

}  // namespace

wire::Instant EvenClock::at(const wire::Instant& read) {
  const MutexLock lock(mutex_);
  const Millis lead = read.wall.time_since_epoch() - read.steady;
  if (!started_) {
    started_ = true;
    anchor_ = read;
    lead_ = lead;
  }
  if (const Millis jump = lead - lead_; std::chrono::abs(jump) > kJump) {
    const wire::Instant before{read.steady, read.wall - jump};
    anchor_ = {std::max(anchor_.steady, read.steady), even(anchor_, before)};
    lead_ = lead;
    jump_ = jump_.value_or(Millis{0}) + jump;
  }
  return {read.steady, even(anchor_, read)};
}

std::optional<Millis> EvenClock::poll_jump() {
  const MutexLock lock(mutex_);
  return std::exchange(jump_, std::nullopt);
}

}  // namespace l4::live
