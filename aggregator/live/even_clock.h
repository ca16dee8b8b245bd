// A time of day that never jumps: what silences, pauses and deadlines are measured by.
//
// Place in the flow: the aggregator asks it wherever it asks for the time. When the clock of the
// host is set, the monotonic clock tells by how much, and this one goes on from where it was, by a
// tenth faster or slower until it is right again: an hour that was added is not an hour of silence,
// and one that was taken away holds nothing up for an hour. (A host that was suspended looks like
// one whose clock was set.) Any thread.
#pragma once

#include <optional>

#include "common/base/mutex.h"
#include "common/wire/instant.h"

namespace l4::live {

class EvenClock {
 public:
  /// From two clocks that were just read.
  wire::Instant at(const wire::Instant& read);
  /// By how much the clock was set since this was asked last, if it was: more than kJump at once.
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
