// Services shared by the threads of the live aggregator: the shards, the intake and the questions
// about the past.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "aggregator/alert/alert.h"
#include "aggregator/faults/library.h"
#include "aggregator/pool/pool_book.h"
#include "aggregator/scoring/live_job.h"
#include "aggregator/store/store.h"
#include "common/base/error.h"
#include "common/wire/instant.h"

namespace l4::scoring {

/// Totals over all shards: the bounds are for all together, however jobs are distributed.
struct Totals {
  std::atomic<std::uint64_t> jobs{0}, bytes{0};
  /// When a shard last removed old rows from the pool and the database, for all shards.
  std::atomic<TimeMs> rows_evicted{TimeMs{}};
};

/// Functions shared by shards; all may be called from any thread.
struct Services {
  store::Store& store;
  pool::PoolBook& pool;
  std::function<std::shared_ptr<const faults::Library>()> library;  ///< the current library
  /// Sends an alert; the incident that it reports may be null. See Alerter::send.
  std::function<Result<void>(const alert::Alert&, const store::Incident*)> alert;
  std::function<void(const std::string&)> say;   ///< a line for the log
  std::function<void(const std::string&)> warn;  ///< a line for the log that needs attention
  std::function<wire::Instant()> now;
  std::shared_ptr<Totals> totals;
  /// Publishes the changed row of a job; `gone`: the job is no longer watched.
  std::function<void(const JobRow&, bool gone)> changed = {};
};

}  // namespace l4::scoring
