// What the answers of an aggregator say about its site: what is well and what is to be looked at.
//
// Flow: command.cc asks -> Site -> findings -> terminal/remarks.h. Findings about many agents are
// joined, and name the first few. Pure functions over values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/terminal/remarks.h"

namespace l4::commands::check {

/// What came from one agent.
struct Reading {
  std::vector<std::string> jobs;
  std::uint64_t lines = 0;  ///< of those jobs; a folded traceback counts once
};

struct Site {
  std::optional<ask::StatusRow> status;  ///< empty: the aggregator is of a version without it
  ask::AgentList agents;
  ask::JobList jobs;
  std::map<std::string, Reading> reading;  ///< by agent, of jobs that are not over
  std::vector<ask::SinkTestRow> tests;     ///< of --send
  bool sent = false;
  TimeMs now{};  ///< by the clock of the times in the answers
};

std::vector<terminal::Remark> findings(const Site& site);

/// Connected, but not heard for so long that it would be lost if the aggregator could judge: soon
/// after its start, or while it is blind.
bool is_silent(const Site& site, const ask::AgentRow& agent);
/// Nothing about the agent is to be looked at.
bool is_well(const Site& site, const ask::AgentRow& agent);

}  // namespace l4::commands::check
