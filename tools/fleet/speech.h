// What the agent of a simulated node ships of one second: the lines of its ranks, as batches.
//
// Flow: JobPlan -> here -> Node -> ship::Session. Each rank writes a file an attempt, 2,000 bytes a
// second; a second in which nobody says anything has no batch, and the next batch covers its bytes.
// So a position says which second comes next, and every second can be said again. What was defined
// or told before stands in `Told`, which is forgotten with the agent's memory. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/wire/batch.h"
#include "common/wire/greeting.h"
#include "tools/fleet/plan.h"

namespace l4::fleet {

/// One node of a job.
struct Place {
  const JobPlan* plan = nullptr;
  std::size_t node = 0;  ///< of the job, from 0
  std::string name;      ///< of the agent
};

/// What one life of an agent has said so far.
struct Told {
  std::set<std::uint32_t> templates;
  std::set<std::int32_t> attempts;            ///< whose sources are defined
  std::vector<wire::ProcessState> processes;  ///< of the attempt, by local rank
  std::int32_t processes_of = -1;             ///< attempt
  std::int64_t next = 0;                      ///< second
  std::int64_t covered = 0;                   ///< seconds of the attempt's files
  std::int32_t attempt = 0;                   ///< that `covered` is of
};

std::string node_name(const JobScript& job, std::size_t node);

/// Moves `told` to where the aggregator stands.
void read_from(const Place& place, const std::vector<wire::Position>& positions, Told& told);

/// The batch of second `told.next`, if anything is said in it. `begin` is the fleet's start.
std::optional<wire::Batch> say_next(const Place& place, TimeMs begin, Told& told);

}  // namespace l4::fleet
