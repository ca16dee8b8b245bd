// Turns readings of two counters of one card into seconds of bytes and busy tenths.
//
// Flow: nic_watch.h gives readings at irregular times; finished seconds go to the wire. Bytes of an
// interval are spread evenly over it, but never over more than kGapMax: what happened in a longer
// one is not known. A counter that fell was wrapped at 32 bits if the difference is one that the
// card can carry, else it was set back and the interval is not known. The wall clock places, the
// clock since boot measures; a wall clock that is set begins anew. Pure state, no clock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "common/base/time.h"
#include "common/wire/nics.h"

namespace l4::nic {

struct Reading {
  TimeMs wall;
  Millis boot{0};                        ///< never set back
  std::uint64_t sent = 0, received = 0;  ///< the counters, in their units
};

class SecondMeter {
 public:
  static constexpr Millis kGapMax{2'000};

  struct Options {
    std::uint64_t unit = 1;           ///< bytes a count
    std::uint32_t rate_mbps = 0;      ///< 0: not known
    std::uint64_t busy_bytes = 4096;  ///< fewer in a tenth of a second are no activity
  };
  using Finished = std::function<void(const wire::NicSecond&)>;

  explicit SecondMeter(const Options& options) : options_(options) {}

  /// Adds a reading; calls `finished` for each second that is over.
  void add(const Reading& reading, const Finished& finished);

  /// Times that a counter wrapped, and that one was set back.
  std::uint64_t wraps() const { return wraps_; }
  std::uint64_t resets() const { return resets_; }

 private:
  static constexpr double kTenthMs = 100;
  struct Tenth {
    double sent = 0, received = 0, known_ms = 0;
  };

  std::optional<double> rise(std::uint64_t before, std::uint64_t after, double ms);
  void spread(std::int64_t from, std::int64_t to, std::optional<double> sent,
              std::optional<double> received, const Finished& finished);
  void note_activity(std::int64_t from, std::int64_t to, double sent, double received);
  void finish(const Finished& finished);

  Options options_;
  std::optional<Reading> last_;
  std::optional<std::int64_t> second_;  // ms since the epoch
  std::array<Tenth, wire::Tenths::kCount> tenths_ = {};
  std::int64_t first_ = -1, last_busy_ = -1, last_sent_ = -1;  // ms within the second
  double peak_ = 0;  // bytes a tenth, of both directions; halves in kHalfLife
  std::uint64_t wraps_ = 0, resets_ = 0;
};

}  // namespace l4::nic
