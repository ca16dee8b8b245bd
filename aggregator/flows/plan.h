// What learning makes of a window of records: jobs, their groups, pairs and strategies.
//
// Place in the flow: rows -> learn (learn.h) -> JobPlan -> JobTracker, which follows the job.
// Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/flows/events.h"
#include "aggregator/flows/steps.h"

namespace l4::flows {

/// What a pair of cards carries.
enum class Label : std::uint8_t { data, pipeline, context, expert };
/// "DP", "PP", "CP", "EP"
const char* to_text(Label label);

struct Edge {
  std::uint32_t stream = 0;
  std::uint32_t src = 0, dst = 0;  ///< cards
  TimeNs offset = 0;               ///< what its exporter's clock is ahead of the group's
};

/// Streams of one collective; or one pipeline stream, where a job has nothing else to count.
struct Group {
  Label label = Label::data;
  std::vector<Edge> edges;
  std::vector<std::uint32_t> cards;  ///< ascending
  std::uint64_t bytes = 0;
  EventSettings events;
  std::optional<StepRule> rule;  ///< none: no steps can be told
  std::vector<Beat> beats;       ///< while learning: its events
};

struct Strategy {
  unsigned tensor = 1, pipeline = 1, data = 1, context = 1;
};

struct JobPlan {
  std::vector<std::uint32_t> cards;  ///< ascending
  std::vector<Group> groups;
  std::vector<Edge> pipes;    ///< pipeline streams
  std::vector<Edge> experts;  ///< streams of all-to-all exchanges
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<Label>> pairs;  ///< empty: not known
  std::optional<Strategy> strategy;                                          ///< none: unknown
};

}  // namespace l4::flows
