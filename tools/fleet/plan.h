// The plan of one simulated job, second by second: an iteration, a checkpoint, nothing, and why.
//
// Flow: Script -> here -> speech.h, which makes the batches of each node. Made once, a pure
// function of script and seed; so an agent that must read again ships the same again. Bounds:
// a moment a second, some 40 B.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/vocabulary.h"
#include "tools/fleet/script.h"

namespace l4::fleet {

struct Moment {
  std::int32_t attempt = 0;
  std::int64_t attempt_begin = 0;  ///< second
  std::int64_t iteration = -1;     ///< the one that all ranks complete now; -1: none
  Stage stage = Stage::unknown;    ///< stage of a line printed without an iteration
  std::int64_t took = 1;           ///< seconds that the iteration took
  const Fault* fault = nullptr;    ///< the fault that lasts; null: none
  std::int64_t since_fault = 0;    ///< seconds
};

class JobPlan {
 public:
  /// Ignores the faults of other jobs. The script outlives this.
  JobPlan(const Script& script, std::size_t job);

  const JobScript& job() const { return *job_; }
  /// The moment of that second; the last moment for all later seconds.
  const Moment& at(std::int64_t second) const;
  /// Whether the node and its agent are gone.
  bool is_away(std::size_t node, std::int64_t second) const;
  /// Number of the job's first node in the fleet.
  std::size_t first_node() const { return first_node_; }
  std::uint64_t seed() const { return seed_; }

 private:
  const JobScript* job_;
  std::size_t first_node_ = 0;
  std::uint64_t seed_;
  std::vector<Moment> moments_;
};

}  // namespace l4::fleet
