// A time of day that never jumps, for measuring silences, pauses and deadlines.
// Place in the flow: the aggregator takes every time from this clock. When the clock of the host is
// set, the monotonic clock shows by how much; this clock continues from its own time and runs a
// tenth faster or slower until it is right again. So setting the host's clock forward by an hour
// makes no hour of silence, and setting it back stops nothing for an hour. (A host that was
// suspended looks like one whose clock was set.) Any thread.
#pragma once

#include <optional>

#include "common/base/mutex.h"
#include "common/wire/instant.h"

namespace l4::live {

class EvenClock {
 public:
  /// The even time, given the two clocks that were just read.
  wire::Instant at(const wire::Instant& read);
  /// The amount by which the clock was set (more than kJump at once) since the last call; empty if
  /// it was not set.
  std::optional<Millis> poll_jump();

  static constexpr Millis kJump{1'000};
  static constexpr int kSlew = 10;

 private:
  Mutex mutex_;
  bool started_ L4_GUARDED_BY(mutex_) = false;
  wire::Instant anchor_ L4_GUARDED_BY(mutex_);  // the even time runs on from here
  Millis lead_ L4_GUARDED_BY(mutex_){0};        // host's time of day minus its monotonic clock
  std::optional<Millis> jump_ L4_GUARDED_BY(mutex_);
};

}  // namespace l4::live
