// The offset between the wall clocks of agent and aggregator, from NTP's four times; the
// measurement with the shortest round trip of the last eight counts.
// Fed by agent/ship with each heartbeat's reply. A round trip is measured with the steady clock; if
// the wall clock was set meanwhile (it moved against the steady one by more than a second), what
// was measured before is forgotten. One thread; the clocks are arguments.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "common/wire/instant.h"

namespace l4::wire {

class ClockFilter {
 public:
  struct Estimate {
    Millis offset{0};  ///< to add to our clock to get theirs
    Millis delay{0};   ///< round trip; the offset is right within half of it
  };

  /// `received` and `replied` are the other end's clock.
  void measured(Instant sent, TimeMs received, TimeMs replied, Instant back);
  std::optional<Estimate> estimate() const;

 private:
  static constexpr std::size_t kSamples = 8;
  std::array<Estimate, kSamples> samples_;
  std::size_t count_ = 0;          ///< measurements since the clock was set
  Millis wall_against_steady_{0};  ///< the difference at the last sample
};

}  // namespace l4::wire
