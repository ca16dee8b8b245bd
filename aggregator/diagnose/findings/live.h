// Facts about a running job that its state does not hold: its progress and its lost agents.
//
// Flow: watch::JobWatch -> here -> diagnose::Options. Times are the aggregator's clock. A diagnosis
// without these facts judges by printed times and files alone. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace l4::diagnose {

struct LostAgent {
  std::string agent;
  TimeMs heard;       ///< last
  bool back = false;  ///< reconnected, and no progress since
  bool late = false;  ///< lost after the job had failed, so not the cause
};

struct Live {
  std::optional<TimeMs> progress;  ///< last
  Millis deadline{0};              ///< longest ordinary time without progress
  bool overdue = false;            ///< the deadline has passed, and the job is not over
  bool confirmed = false;          ///< overdue by far, or with other evidence
  Millis typical{0};               ///< usual time between two signs of progress
  std::vector<LostAgent> lost;
};

}  // namespace l4::diagnose
