// A time of day that never jumps, for measuring silences, pauses and deadlines.
//
// Place in the flow: the aggregator asks it wherever it asks for the time. When the clock of the
// host is set, the monotonic clock tells by how much, and this one goes on from where it was, by a
// tenth faster or slower until it is right again: a clock set on by an hour makes no hour of
// silence, and one set back by an hour stops nothing for an hour. (A host that was suspended looks
// like one whose clock was set.) Any thread.
#pragma once

#include <optional>

#include "common/base/mutex.h"
#include "common/wire/instant.h"

namespace l4::live {

class EvenClock {
 public:
  /// From two clocks that were just read.
  wire::Instant at(const wire::Instant& read);
  /// The amount by which the clock was set (more than kJump at once) since the last call; none if
  /// it was not.
  std::optional<Millis> take_jump();

  static constexpr Millis kJump{1'000};
  static constexpr int kSlew = 10;

 private:
  Mutex mutex_;
  bool started_ L4_GUARDED_BY(mutex_) = false;
  wire::Instant anchor_ L4_GUARDED_BY(mutex_);  // even since then
  Millis lead_ L4_GUARDED_BY(mutex_){0};  // of the host's time of day before its monotonic clock
  std::optional<Millis> jump_ L4_GUARDED_BY(mutex_);
};

}  // namespace l4::live
