// Makes the batches of a simulated node: the lines of its ranks, a batch for each second.
//
// Flow: JobPlan -> here -> Node -> ship::Session. In each attempt a rank writes one file, 2,000
// bytes a second. A second without a line has no batch; the next batch covers its bytes. So a
// position tells which second comes next, and every second can be made again. `Shipped` holds what
// was defined before and is lost with the agent's memory. Pure.
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

/// One node of a job that is played.
struct PlannedNode {
  const JobPlan* plan = nullptr;
  std::size_t node = 0;  ///< number in the job, from 0
  std::string name;      ///< the agent's
};

/// The definitions that one run of an agent has shipped so far.
struct Shipped {
  std::set<std::uint32_t> templates;
  std::set<std::int32_t> attempts;            ///< the sources of these are defined
  std::vector<wire::ProcessState> processes;  ///< the attempt's, by local rank
  std::int32_t processes_of = -1;             ///< attempt
  std::int64_t next = 0;                      ///< second
  std::int64_t covered = 0;                   ///< seconds of the attempt's files
  std::int32_t attempt = 0;                   ///< the attempt of `covered`
};

std::string node_name(const JobScript& job, std::size_t node);

/// Moves `shipped` to where the aggregator stands.
void read_from(const PlannedNode& planned, const std::vector<wire::Position>& positions,
               Shipped& shipped);

/// The batch of second `shipped.next`, if it has a line. `begin` is the fleet's start.
std::optional<wire::Batch> next_batch(const PlannedNode& planned, TimeMs begin, Shipped& shipped);

}  // namespace l4::fleet
