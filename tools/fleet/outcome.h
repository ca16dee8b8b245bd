// What one run of the fleet showed, and whether that is what was asked.
//
// Flow: Fleet fills it, print() says it to people, is_good() makes the exit status. Plain values.
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
  std::optional<Millis> back;  ///< all are connected; none: never
  bool seen_blind = false;     ///< the aggregator called itself blind
};

struct Outcome {
  std::size_t nodes = 0;
  Millis length{0};
  bool level = false;  ///< at the end everything that was said is counted
  std::vector<Absence> absences;
  Verdict verdict;
  std::set<std::string> lost_said, lost_expected;  ///< nodes
  bool log_read = false;                           ///< else lost_said is not known
  std::vector<Sample> samples;
  ship::SessionStats sessions;
  LossyPort::Counts links;
};

/// Of the aggregator, over the run.
struct Costs {
  double cores = 0, user_s = 0, system_s = 0;
  double third_quarter_mb = 0, last_quarter_mb = 0, peak_mb = 0;  ///< medians, and the most
  double growth_percent = 0;
};
Costs costs_of(const Outcome& outcome);

/// Rows for people; the last one says whether all is as asked.
std::vector<std::string> rows_of(const Script& script, const Outcome& outcome);
/// What is not as asked, a sentence each.
std::vector<std::string> complaints(const Script& script, const Outcome& outcome);

/// Nodes that a log of the aggregator calls lost.
std::set<std::string> lost_in(const std::filesystem::path& log);

}  // namespace l4::fleet
