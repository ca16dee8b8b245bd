// What people ask for after the fact: incidents, jobs, alerts to be sent, what healthy runs print.
//
// Flow: whoever detects writes incidents, whoever serves reads them; each call is one transaction,
// durable when it returns (SQLite, WAL, synchronous=FULL). Offsets here are a mirror for people and
// tools: the truth is checkpoint plus journal. Thread-safe, one call at a time. A damaged database
// is put aside as NAME.corrupt and a new one begun; take_trouble() says so. Every table but
// the pool's, which its book bounds, has a number of rows and an age (retain()), the file a size:
// beyond it writing fails, reading does not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/store/files.h"
#include "aggregator/store/offsets.h"
#include "aggregator/store/record.h"
#include "aggregator/store/rows.h"
#include "common/base/time.h"

namespace l4::store {

struct DatabaseOptions {
  std::uint64_t bytes_max = std::uint64_t{1} << 30U;
  std::size_t incidents = 10'000, jobs = 50'000, alerts = 10'000;  ///< alerts: of a sink
  std::size_t snapshots_per_job = 32, snapshots = 2'000;
  Millis snapshot_age = std::chrono::days(30);
  Millis age = std::chrono::days(365);  ///< of incidents, jobs and outcomes
  Millis alert_age = std::chrono::days(7);
  std::string vfs;  ///< SQLite's file system, for tests
};

class Database {
 public:
  /// Opens at the first call, and again at the next one while that fails.
  Database(const Path& path, DatabaseOptions options);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Why it cannot be used, if so.
  Result<void> ready();

  Result<void> put(const Incident& incident);  ///< new, or instead of the one with that id
  Result<std::optional<Incident>> incident(const std::string& id);
  Result<std::vector<Incident>> incidents(const IncidentQuery& query);

  Result<void> put(const Snapshot& snapshot);  ///< the oldest of the job goes if there are too many
  /// Of a job, before that time, newest first, without their reports.
  Result<std::vector<Snapshot>> snapshots(const std::string& job, TimeMs before, std::size_t count);
  /// The newest at or before that time.
  Result<std::optional<Snapshot>> snapshot(const std::string& job, TimeMs at);

  Result<void> put(const JobRow& job);
  Result<std::vector<JobRow>> jobs(std::size_t count);  ///< newest begin first

  Result<void> put(const PoolRun& run);
  Result<std::vector<PoolRun>> pool(const std::string& kind);  ///< newest first
  Result<std::vector<PoolRun>> pool();                         ///< of all kinds, newest first
  /// At once: `run` instead of the one of its name, in whatever kind, and without those of `gone`.
  Result<void> change_pool(const std::optional<PoolRun>& run, const std::vector<std::string>& gone);

  Result<void> put(const Outcome& outcome);
  Result<std::vector<Outcome>> outcomes();
  Result<bool> has_job(const std::string& id);

  Result<std::int64_t> enqueue(const Alert& alert);  ///< its id and tries are given here
  /// All of them and the incident, if there is one, or nothing.
  Result<void> enqueue(const std::vector<Alert>& alerts, const Incident* incident = nullptr);
  /// Of one sink, in the order in which they came.
  Result<std::vector<Alert>> due(const std::string& sink, TimeMs now, std::size_t count);
  Result<void> sent(std::int64_t id);
  Result<void> sent(std::int64_t id, TimeMs again);  ///< one that lasts
  Result<void> failed(std::int64_t id, TimeMs again);
  Result<void> withdraw(const std::string& sink, const std::string& incident);
  /// What was tried in vain is due now.
  Result<void> hurry(const std::string& sink, TimeMs now);
  /// All rows and marks (SINK/WHAT) of a sink; how many were never delivered.
  Result<std::uint64_t> drop_sink(const std::string& sink);
  /// Sinks that have rows, without marks.
  Result<std::vector<std::string>> sinks();
  /// How many of a sink are due or were tried in vain.
  Result<std::uint64_t> waiting(const std::string& sink, TimeMs now);
  /// Leaves the newest of a sink, none from before; how many are gone.
  Result<std::uint64_t> trim(const std::string& sink, std::size_t count, TimeMs before);

  /// The mirror becomes what the table says, for the journal up to `position`.
  Result<void> mirror(const OffsetTable& offsets, Seq position);
  Result<std::vector<Position>> mirrored(const std::string& agent);
  Result<Seq> mirrored_position();

  /// Drops what is too old or too much, oldest first; how many rows.
  Result<std::uint64_t> retain(TimeMs now);
  std::vector<std::string> take_trouble();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::store
