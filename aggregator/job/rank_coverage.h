// How many ranks of a job are known, and how many there should be.
//
// Of the newest attempt: from the processes that agents found behind the logs, and the logs that
// name their rank. Agents number attempts for themselves, so a process counts if no other of its
// agent is of a newer one, and it was not gone before the newest of all began. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "aggregator/job/job_state.h"

namespace l4::job {

struct RankCoverage {
  std::set<Rank> ranks;                  ///< that somebody is known to be
  std::optional<std::int32_t> expected;  ///< size of the world, as the processes say; the largest

  std::size_t mapped() const { return ranks.size(); }
  bool is_short() const { return expected && mapped() < static_cast<std::size_t>(*expected); }
};

RankCoverage rank_coverage(const JobState& state);

/// "1,021 of 1,024 ranks mapped"; without an expected number "12 ranks mapped".
std::string text(const RankCoverage& coverage);

}  // namespace l4::job
