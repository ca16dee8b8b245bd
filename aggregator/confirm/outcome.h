// How a job ended, as a person or a scheduler tells it: what follows for the pool.
//
// Flow: HTTP -> Aggregator::record_outcome -> the job's shard -> here. Success: what the job has
// printed so far is normal from now on, and a run is stored. Failure: its runs leave the pool, and
// none is added. The word is durable before anything follows from it; the same word again changes
// nothing, another one takes its place. No state.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "aggregator/confirm/confirmation.h"
#include "aggregator/pool/pool_book.h"

namespace l4::scoring {
class Shard;
}

namespace l4::confirm {

struct OutcomeRequest {
  store::Outcome outcome;  ///< its texts are checked; person and time are filled in
};

struct OutcomeDone {
  store::Outcome outcome;
  std::string before;                ///< what was told before; empty: nothing
  std::string run, kind;             ///< that is in the pool now; empty: none
  std::vector<std::string> removed;  ///< runs that left it
  std::string why_not;               ///< no run was added although it was a success
};

using OutcomeThen = std::function<void(std::expected<OutcomeDone, Refused>)>;

std::expected<OutcomeDone, Refused> record_outcome(const OutcomeRequest& request,
                                                   pool::PoolBook& pool, store::Database& database,
                                                   scoring::Shard& shard);

}  // namespace l4::confirm
