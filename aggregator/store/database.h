// The database of what people ask for later: incidents, jobs, waiting alerts, healthy runs.
//
// Flow: shards write incidents and jobs, questions over HTTP read them; each call is one
// transaction, durable when it returns (SQLite, WAL, synchronous=FULL). The offsets in it are a
// mirror for people: the store itself recovers them from checkpoint and journal. Thread-safe, one
// call at a time. A damaged database is renamed to NAME.corrupt and a new one is begun, with a
// warning. Bounds: each table has a number of rows and an age (retain()), except the pool's, which
// pool_book bounds; beyond the size of the file writing fails and reading goes on.
#pragma once

#include <cstdint>
#include <functional>
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
  std::size_t incidents = 10'000, jobs = 50'000, alerts = 10'000;  ///< alerts: for each sink
  std::size_t snapshots_per_job = 32, snapshots = 2'000;
  std::size_t maintenance = 1'000;
  std::size_t labels = 20'000;  ///< kept however old they are
  Millis snapshot_age = std::chrono::days(30);
  Millis age = std::chrono::days(365);  ///< age limit of incidents, jobs and outcomes
  Millis alert_age = std::chrono::days(7);
  std::string vfs;  ///< SQLite's file system, for tests
};

class Database {
 public:
  /// Opens the file at the first call; after a failure the next call tries again. `warn` is called
  /// when a damaged file is replaced, on the thread of the call.
  Database(const Path& path, DatabaseOptions options,
           std::function<void(const std::string&)> warn = {});
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// An Error if the database cannot be used.
  Result<void> ready();

  Result<void> save(const Incident& incident);  ///< replaces the row with the same id
  Result<std::optional<Incident>> incident(const std::string& id);
  /// With its head and without its reports; the head is empty if an earlier version stored it.
  Result<std::optional<Incident>> incident_head(const std::string& id);
  Result<std::vector<Incident>> incidents(const IncidentQuery& query);

  /// Removes the oldest snapshot of the job if there are too many.
  Result<void> save(const Snapshot& snapshot);
  /// Snapshots of a job before that time, newest first, without their reports.
  Result<std::vector<Snapshot>> snapshots(const std::string& job, TimeMs before, std::size_t count);
  /// The newest snapshot at or before that time.
  Result<std::optional<Snapshot>> snapshot(const std::string& job, TimeMs at);

  Result<void> save(const JobRow& job);
  Result<std::vector<JobRow>> jobs(std::size_t count);  ///< those that began last come first

  Result<void> save(const PoolRun& run);
  Result<std::vector<PoolRun>> pool(const std::string& kind);  ///< newest first
  Result<std::vector<PoolRun>> pool();                         ///< runs of all kinds, newest first
  /// In one transaction: `run` replaces the run of the same job, of any kind, and the runs of the
  /// jobs in `gone` are removed.
  Result<void> change_pool(const std::optional<PoolRun>& run, const std::vector<std::string>& gone);

  Result<void> save(const Outcome& outcome);
  Result<std::vector<Outcome>> outcomes();
  Result<bool> has_job(const std::string& id);

  Result<void> save(const Label& label);  ///< replaces that of the same subject
  Result<std::vector<Label>> labels();    ///< ascending by subject

  Result<void> save(const Acknowledgement& told);  ///< replaces that of the same incident
  Result<void> drop_acknowledgement(const std::string& incident);
  Result<std::vector<Acknowledgement>> acknowledgements();
  /// Stores a new one (id 0) or replaces the one with this id; returns its id.
  Result<std::int64_t> save(const Maintenance& maintenance);
  Result<std::vector<Maintenance>> maintenance();  ///< ascending by id
  Result<void> save(const HeldIncident& held);
  Result<std::vector<HeldIncident>> held_incidents();

  Result<std::int64_t> enqueue(const Alert& alert);  ///< assigns id and tries
  /// Stores all alerts and the incident, if there is one, in one transaction.
  Result<void> enqueue(const std::vector<Alert>& alerts, const Incident* incident = nullptr);
  /// Due alerts of one sink, in the order in which they came.
  Result<std::vector<Alert>> due(const std::string& sink, TimeMs now, std::size_t count);
  /// The first alerts of one sink that it has not taken, also those that are not due yet; of an
  /// alert that lasts, if it is due or has failed.
  Result<std::vector<Alert>> untaken(const std::string& sink, TimeMs now, std::size_t count);
  Result<void> sent(std::int64_t id);
  Result<void> sent(std::int64_t id, TimeMs again);  ///< an alert that lasts
  Result<void> failed(std::int64_t id, TimeMs again);
  Result<void> withdraw(const std::string& sink, const std::string& incident);
  /// Alerts that failed before become due now.
  Result<void> retry_now(const std::string& sink, TimeMs now);
  /// Removes all rows and marks (SINK/WHAT) of a sink; returns how many were never delivered.
  Result<std::uint64_t> drop_sink(const std::string& sink);
  /// Sinks that have rows, without marks.
  Result<std::vector<std::string>> sinks();
  /// How many alerts of a sink are due or have failed.
  Result<std::uint64_t> waiting(const std::string& sink, TimeMs now);
  /// Keeps the newest `count` alerts of a sink that are not older than `before`; returns how many
  /// were removed.
  Result<std::uint64_t> trim(const std::string& sink, std::size_t count, TimeMs before);

  /// Replaces the mirror: the tables `offsets` and `mirror`, for people who open the file.
  /// `position` is the journal number up to which the offsets count.
  Result<void> mirror(const OffsetTable& offsets, Seq position);

  /// Removes rows that are too old or too many, oldest first; returns how many.
  Result<std::uint64_t> retain(TimeMs now);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::store
