// Records how a job ended, as a person or a scheduler reports it, and updates the pool.
// Flow: HTTP -> Aggregator::record_outcome -> the job's shard -> here. Success: the lines of the
// job so far are normal from now on, and a run is stored. Failure: the job's runs leave the pool,
// and none is added. The outcome is durable before the pool changes; repeating it changes nothing,
// and another outcome replaces it. No state.
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
  std::string before;                ///< the outcome reported before; empty: none
  std::string run, kind;             ///< the job's run in the pool and its kind; empty: none
  std::vector<std::string> removed;  ///< runs that left the pool
  std::string why_not;               ///< why no run was added although the job succeeded
  bool labelled = false;             ///< the state of the job's report is judged by it
};

using OutcomeThen = std::function<void(std::expected<OutcomeDone, Refused>)>;

std::expected<OutcomeDone, Refused> record_outcome(const OutcomeRequest& request,
                                                   pool::PoolBook& pool, store::Database& database,
                                                   scoring::Shard& shard);

}  // namespace l4::confirm
