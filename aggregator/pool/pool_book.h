// The pool of healthy runs of a running aggregator: kept in the database, sorted into kinds.
//
// Flow: shards offer runs that ended well; requests over HTTP import and drop runs and report
// outcomes. An answered change is durable, and each change is one transaction. Jobs are compared
// with shelf(), which never changes: a change replaces it. Reports of people outweigh logs: a job
// reported as failed never adds runs and its runs are removed, and a dropped run does not return by
// itself. Unreadable rows of the database are skipped and logged. Thread-safe; a change costs its
// caller some milliseconds. Bounds: PoolOptions, oldest runs first; kOutcomesMax.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/pool/shelf.h"
#include "aggregator/store/database.h"
#include "common/base/mutex.h"

namespace l4::pool {

struct PoolOptions {
  std::size_t runs_max = 20;  ///< runs of each kind
  std::size_t kinds_max = 500;
  Millis age = std::chrono::days(90);  ///< longest time since the run ended
  std::uint64_t bytes_max = std::uint64_t{64} << 20U;
};

struct PoolStats {
  std::uint64_t runs = 0, kinds = 0, bytes = 0;
  std::uint64_t added = 0, dropped = 0;  ///< runs, since the start
};

class PoolBook {
 public:
  static constexpr std::size_t kOutcomesMax = 50'000;
  static constexpr std::uint64_t kRunBytesMax = std::uint64_t{768} << 10U;
  using ShelfPointer = std::shared_ptr<const pool::Shelf>;
  struct Hooks {
    std::function<void(const std::string&)> say, warn;
    std::function<TimeMs()> now;
  };
  struct Row {
    std::shared_ptr<const pool::Run> run;
    std::uint64_t bytes = 0;
  };

  /// Loads the runs of the database.
  PoolBook(PoolOptions options, store::Database& database, Hooks hooks);

  ShelfPointer shelf() const;  ///< never waits for a change of the pool
  /// A shelf of the runs that had ended at `time` and are still known.
  ShelfPointer shelf_at(TimeMs time) const;
  PoolStats stats() const;
  /// The runs by kind, newest first.
  std::vector<Row> rows() const;

  /// True if a run that ended well by its logs is new, or longer than the known run of its id.
  bool wants(const std::string& job, std::int32_t attempt, std::uint64_t lines) const;
  /// Adds the run or replaces the run of its id; returns its kind. Error: nothing has changed.
  /// `by`: for the log.
  Result<std::string> add(pool::Run run, const std::string& by);
  /// False if there is no such run.
  Result<bool> drop(const std::string& run, const std::string& by);

  /// The reported outcome of a job; empty if there is none.
  std::string outcome_of(const std::string& job) const;
  /// Stores the outcome; after a failure, returns the ids of the removed runs.
  Result<std::vector<std::string>> record_outcome(const store::Outcome& outcome);
  /// True if the database knows the job.
  bool knows(const std::string& job) const;
  /// Removes runs that are too old.
  void evict_old();

 private:
  using Runs = std::map<std::string, Row>;  // by id
  std::vector<std::string> too_many(const Runs& runs, TimeMs now) const;
  Result<void> change(const std::optional<store::PoolRun>& row, Runs runs) L4_REQUIRES(mutex_);
  void publish() L4_REQUIRES(mutex_);
  std::string kind_for(const pool::Run& run) const;

  const PoolOptions options_;
  store::Database& database_;
  const Hooks hooks_;
  mutable Mutex mutex_;
  Runs runs_ L4_GUARDED_BY(mutex_);
  std::map<std::string, std::string> outcomes_ L4_GUARDED_BY(mutex_);  // by job
  std::uint64_t added_ L4_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ L4_GUARDED_BY(mutex_) = 0;
  mutable Mutex shelf_mutex_;  // guards the pointer alone, so that scoring never waits for a change
  ShelfPointer shelf_ L4_GUARDED_BY(shelf_mutex_);  // changed with both locks held
};

}  // namespace l4::pool
