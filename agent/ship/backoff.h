// The wait before the next try: exponential, with full jitter, so that a thousand agents do not
// reconnect in step.
//
// Owned by ship::Session. Deterministic given its seed; no clock.
#pragma once

#include <algorithm>
#include <random>

#include "common/base/time.h"

namespace l4::ship {

class Backoff {
 public:
  Backoff(Millis first, Millis most, std::uint64_t seed)
      : first_(first), most_(most), random_(seed) {}

  /// A random wait from 0 to a bound that doubles with every call, at most `most`.
  Millis next() {
    const std::int64_t bound = std::min(most_.count(), first_.count() << std::min(tries_, 16));
    ++tries_;
    return Millis{std::uniform_int_distribution<std::int64_t>(0, bound)(random_)};
  }
  /// Number of tries since the last success.
  int tries() const { return tries_; }
  /// A try succeeded: the next wait is short again.
  void reset() { tries_ = 0; }

 private:
  Millis first_, most_;
  int tries_ = 0;
  std::mt19937_64 random_;
};

}  // namespace l4::ship
