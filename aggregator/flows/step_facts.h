// What one step of a job looked like from the network.
//
// Place in the flow: JobTracker makes one JobStep for each step -> SlowSteps and causes.h. Plain
// values; seconds unless a time.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "aggregator/flows/record.h"

namespace l4::flows {

inline constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

struct GroupStep {
  TimeNs end = 0;  ///< zero: no end was found in this step
  bool complete = false;
  TimeNs length = 0;        ///< since its last end, if both are complete; else zero
  TimeNs first_start = 0;   ///< of its first event
  float transfer = 0;       ///< of all events: from the last start to the end
  std::vector<float> late;  ///< of each card behind the first, summed over its events
};

struct PipeStep {
  std::uint32_t sends = 0;
  TimeNs first_start = 0, last_end = 0;
  double seconds = 0, bytes = 0;
  float service = kUnknown;  ///< mean time from what a send needed to its start
};

struct JobStep {
  TimeNs begin = 0, end = 0;
  bool lossy = false;     ///< records of it were lost, and no two groups agree on its length; or
                          ///< records of storage were lost: it may have written a checkpoint
  bool partial = false;   ///< records of it were lost
  double storage = 0;     ///< within it, while the job wrote to storage
  TimeNs first_send = 0;  ///< start of the first row
  std::vector<GroupStep> groups;
  std::vector<PipeStep> pipes;
  std::vector<float> wake;  ///< of each card: its first send, behind the first one of all

  double seconds() const { return static_cast<double>(end - begin) / 1e9; }
  /// Without the time in which a checkpoint was written.
  double busy() const { return seconds() - storage; }
};

}  // namespace l4::flows
