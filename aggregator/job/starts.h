// The attempt of each start of a rank's process, counted over all nodes together.
//
// Flow: job::Attempts asks for each rank's stream and process. Agents number the starts that they
// saw on their own node, so a node to which a rank is moved counts from 0. Where a rank begins on
// another node after its earlier process is over, that start is the next attempt. A rank that
// starts together with ranks of attempt N belongs to N even if its own node has not counted N yet.
// A lost node never reports the exit of its processes, so silence at that time counts as their end.
// Live only; without processes an agent's own number holds. Pure; built from a JobState, keeps
// nothing of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "aggregator/job/job_state.h"

namespace l4::job {

class Starts {
 public:
  explicit Starts(const JobState& state);

  /// The job's attempt for a rank of a node, given the attempt that the node counts.
  std::int32_t of(const std::string& node, std::optional<Rank> rank, std::int32_t attempt) const;

 private:
  /// The job's attempt, by node, rank and the node's own count; only where the two differ.
  std::map<std::tuple<std::string, Rank, std::int32_t>, std::int32_t> moved_;
};

}  // namespace l4::job
