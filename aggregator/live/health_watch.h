// Decides when to alert that the aggregator is not well, and that it is well again.
// Flow: Aggregator passes its own health about once a second. An alert is returned once the
// journal, the database or a thread has been in trouble for `degraded_after` without a break,
// another one when a further trouble joins, and the end once all has been well for `well_after`. So
// a trouble that comes and goes is one alert. Blindness has its own alert (Intake). Pure, one
// thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/alert/alert.h"
#include "common/wire/instant.h"

namespace l4::live {

struct Health {
  std::vector<std::string> reasons;  ///< why the aggregator is degraded; empty if it is not
  bool journal = false;              ///< cannot be written: no batch is accepted
  bool blind = false;                ///< most agents fell silent at once
  bool database = false;             ///< cannot be used
  bool stalled = false;              ///< a thread makes no steps: only a restart helps

  void add(bool& what, std::string reason);
};

struct HealthWatchOptions {
  Millis degraded_after{10'000}, well_after{30'000};
};

class HealthWatch {
 public:
  explicit HealthWatch(HealthWatchOptions options = {}) : options_(options) {}
  std::optional<alert::Alert> step(const Health& health, wire::Instant now);

 private:
  static constexpr std::size_t kParts = 3;  ///< journal, database, threads

  HealthWatchOptions options_;
  std::array<std::optional<Millis>, kParts> bad_since_{};
  std::array<bool, kParts> told_{};
  std::optional<Millis> well_since_;
};

}  // namespace l4::live
