// What the analyser says: jobs with their cards, pairs, strategy, steps and findings.
//
// Place in the flow: Analyser::finish -> text, JSON and trace of `l4 flows`. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/flows/plan.h"
#include "aggregator/flows/record.h"

namespace l4::flows {

enum class Cause : std::uint8_t {
  slow_gpu,          ///< one server computes slowly, step after step
  imbalance,         ///< another replica is late in each step
  degraded_link,     ///< transfers of one card are slow
  congested_switch,  ///< transfers through one switch are slow
  pause,             ///< one server stood still within a step
  data_stall,        ///< a step began late
  hang,              ///< the job waits for someone who does not come
  crash,             ///< all transfers were torn at once
  stopped,           ///< the job is silent
};
/// "slow_gpu"
const char* to_text(Cause cause);

struct FlowFinding {
  Cause cause = Cause::stopped;
  TimeNs at = 0;                   ///< when it could be told first
  TimeNs since = 0;                ///< begin of the first step concerned, or last sign of life
  std::vector<std::string> place;  ///< the answer set: servers, cards or switches; empty: unknown
  bool ambiguous = false;          ///< several places explain it equally well
  double factor = 1;               ///< of the step, or of the transfer for links and switches
  unsigned steps = 0;              ///< concerned so far; 0: told by rates, without a step clock
  bool open = false;               ///< it has not ended
  bool in_step = false;            ///< of a silence: it began within a step
};

struct GroupFlows {
  Label label = Label::data;
  std::vector<Address> cards;
  unsigned collectives = 0;  ///< in a step; 0: no step clock
  std::vector<TimeNs> ends;  ///< of its steps
};

/// One step as a page draws it: when each group exchanged.
struct StepShape {
  TimeNs begin = 0, end = 0;
  bool slow = false;
  /// First start and end of each group's events; zeros where it told none.
  std::vector<std::pair<TimeNs, TimeNs>> groups;
};

struct PairFlows {
  Address src, dst;
  std::set<Label> labels;
};

struct JobFlows {
  std::string name;
  std::vector<std::string> servers;
  std::vector<Address> cards;
  std::vector<PairFlows> pairs;
  std::optional<Strategy> strategy;
  std::vector<GroupFlows> groups;
  std::map<Address, std::size_t> clock_of;       ///< card -> the group that ends its steps
  TimeNs first = 0, last = 0;                    ///< first start and last end of its rows
  TimeNs period = 0;                             ///< typical step; zero: no step clock
  std::vector<std::pair<TimeNs, TimeNs>> steps;  ///< begin and end of the job's steps
  std::uint64_t lossy_steps = 0;                 ///< not judged, since records were lost
  std::vector<StepShape> shapes;                 ///< of the latest steps, where they are kept
  bool silent = false;                           ///< now
  TimeNs deadline = 0;                           ///< a longer silence is no pause
  TimeNs stored = 0;                             ///< end of its last checkpoint; 0: none was seen
  std::map<Address, TimeNs> signs;               ///< last record of each card, whatever its size
  std::vector<FlowFinding> findings;
};

struct FlowReport {
  std::vector<JobFlows> jobs;
  std::uint64_t records = 0, lost = 0, unplaced = 0;
  bool loss_is_known = false;
  std::size_t streams = 0, cards = 0;
  TimeNs first = 0, last = 0;
};

/// What an analyser holds, and what it could not.
struct AnalyserCounts {
  std::uint64_t records = 0, lost = 0, unplaced = 0, table_bytes = 0;
  std::uint64_t streams = 0, cards = 0, jobs = 0, silent_jobs = 0, findings = 0;
};

}  // namespace l4::flows
