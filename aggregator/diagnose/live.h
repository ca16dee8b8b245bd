// What is known of a running job beside its state: how its progress stands, which agents are lost.
//
// Flow: watch::JobWatch says it, diagnose takes it by its options. Times are the aggregator's
// clock. Without it a diagnosis judges by printed times and files alone. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace l4::diagnose {

struct LostAgent {
  std::string agent;
  TimeMs heard;       ///< last
  bool back = false;  ///< heard again, and the job has not gone on since
  bool late = false;  ///< lost when the job had failed already: not why
};

struct Live {
  std::optional<TimeMs> progress;  ///< last
  Millis deadline{0};              ///< no longer without progress is ordinary
  bool overdue = false;            ///< past it, and the job is not over
  bool confirmed = false;          ///< ... by far, or with other evidence
  Millis typical{0};               ///< from one progress to the next
  std::vector<LostAgent> lost;
};

}  // namespace l4::diagnose
