// How the aggregator itself is: what a person who sets up a site looks at first.
//
// Flow: intake, store, alerter -> Aggregator::status -> `GET /api/v1/status`. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/alert/alerter.h"
#include "aggregator/live/counts.h"
#include "aggregator/live/health_watch.h"
#include "common/base/time.h"

namespace l4::live {

struct Status {
  std::string software;
  TimeMs started{}, now{};
  Health health;
  std::string folder;                                        ///< of the state
  std::optional<std::uint64_t> disk_bytes, disk_free_bytes;  ///< of its file system
  std::uint64_t journal_bytes = 0, journal_bytes_max = 0;
  Fleet fleet;
  Millis lost_after{0};  ///< silence after which an agent is lost, if the aggregator can judge
  /// Those that may connect and have not been heard since the start, or for so long that they are
  /// forgotten. Empty: not known who may.
  std::optional<std::vector<std::string>> absent;
  std::vector<alert::SinkStats> sinks;
};

}  // namespace l4::live
