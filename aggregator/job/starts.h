// Which attempt a start of a rank's process is, counted over all nodes together.
//
// Flow: job::Attempts asks for each rank's stream and process. Agents number the starts that they
// met on their own node: one that a rank was moved to counts from 0. So where a rank begins anew on
// another node after its process there is over, that is the next attempt; and who began with those
// of an attempt that its own node does not know takes part in it. Of a node that was lost nobody
// says that its processes have ended: that it was silent by then will do. Live only; without
// processes every start is what its agent says. Pure; built from a JobState, keeps nothing of it.
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

  /// Attempt of what a rank of a node did in the attempt of its node's own count.
  std::int32_t of(const std::string& node, std::optional<Rank> rank, std::int32_t attempt) const;

 private:
  /// Node, rank, the node's own count: the attempt, where it is another one.
  std::map<std::tuple<std::string, Rank, std::int32_t>, std::int32_t> moved_;
};

}  // namespace l4::job
