// A job of which one rank needs three times as long in one iteration.
#pragma once

#include <cstdint>

#include "tests/aggregator/job/made_job.h"

namespace l4::scores::test {

/// 8 ranks on 4 nodes, 120 iterations; rank 5 is slow in iteration 80, and its timer says so.
/// `talks`: node-3 prints a line of its own then.
inline job::test::MadeJob slow_once(bool talks = false) {
  job::test::MadeJob made(4, 2);
  std::int64_t ms = 0;
  for (std::int64_t k = 1; k <= 120; ++k) {
    ms += 10'000;
    for (int rank = 0; rank < made.ranks(); ++rank) {
      const bool slow = rank == 5 && k == 80;
      if (talks && rank == 6 && k == 80) made.say(rank, {"link flap observed", Level::info}, ms);
      made.iterate(rank, k, ms + (slow ? 20'000 : 0) + k % 7, slow ? 29'000 : 9000);
    }
  }
  return made;
}

}  // namespace l4::scores::test
