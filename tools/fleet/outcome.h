// The result of one run of the fleet, and whether it meets the limits of the script.
//
// Flow: Fleet fills it -> rows_of for people, complaints for the exit status. Plain values.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/fleet/judge.h"
#include "tools/fleet/node.h"
#include "tools/fleet/watcher.h"

namespace l4::fleet {

/// All agents were away at once: after the start, a restart, a cut of all links.
struct Absence {
  Kind kind = Kind::restart;
  Millis at{0}, until{0};      ///< since the fleet's start; `until`: links are whole again
  std::optional<Millis> back;  ///< when all were connected; none: never
  bool seen_blind = false;     ///< the aggregator called itself blind
};

struct Outcome {
  std::size_t nodes = 0;
  Millis length{0};
  bool level = false;  ///< at the end everything that was shipped is counted
  std::vector<Absence> absences;
  Judgement judgement;
  std::set<std::string> lost_said, lost_expected;  ///< nodes
  bool log_read = false;                           ///< else lost_said is not known
  std::vector<Sample> samples;
  ship::SessionStats sessions;
  LossyPort::Counts links;
};

/// The costs of the aggregator over the run.
struct Costs {
  double cores = 0, user_s = 0, system_s = 0;
  double third_quarter_mb = 0, last_quarter_mb = 0, peak_mb = 0;  ///< medians, and the maximum
  double growth_percent = 0;
};
Costs costs_of(const Outcome& outcome);

/// Rows for people; the last one says whether all limits were met.
std::vector<std::string> rows_of(const Script& script, const Outcome& outcome);
/// A sentence for each limit that was not met.
std::vector<std::string> complaints(const Script& script, const Outcome& outcome);

/// Nodes that a log of the aggregator calls lost.
std::set<std::string> lost_in(const std::filesystem::path& log);

}  // namespace l4::fleet
