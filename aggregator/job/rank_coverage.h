// How many ranks of a job are known, and how many there should be.
// Counts the newest attempt: the processes that agents found behind the logs, and the logs that
// name their rank. Agents number attempts independently, so a process counts if it belongs to its
// agent's newest attempt and still ran when the newest attempt of all began. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "aggregator/job/job_state.h"

namespace l4::job {

struct RankCoverage {
  std::set<Rank> ranks;                  ///< with a process or a log
  std::optional<std::int32_t> expected;  ///< largest world size that a process has

  std::size_t mapped() const { return ranks.size(); }
  bool is_short() const { return expected && mapped() < static_cast<std::size_t>(*expected); }
};

RankCoverage rank_coverage(const JobState& state);

/// "1,021 of 1,024 ranks mapped"; without an expected number "12 ranks mapped".
std::string text(const RankCoverage& coverage);

}  // namespace l4::job
