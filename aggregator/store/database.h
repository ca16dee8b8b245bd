// What people ask for after the fact: incidents, jobs, alerts to be sent, what healthy runs print.
//
// Flow: whoever detects writes incidents, whoever serves reads them; each call is one transaction,
// durable when it returns (SQLite, WAL, synchronous=FULL). Offsets here are a mirror for people and
// tools: the truth is checkpoint plus journal. Thread-safe, one call at a time. A damaged database
// is put aside as NAME.corrupt and a new one begun; take_trouble() says so. Every table has a
// number of rows and an age (retain()), the file a size: beyond it writing fails, reading does not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/store/files.h"
#include "aggregator/store/offsets.h"
#include "aggregator/store/record.h"
#include "common/base/time.h"

namespace l4::store {

struct DatabaseOptions {
  std::uint64_t bytes_max = std::uint64_t{1} << 30U;
  std::size_t incidents = 10'000, jobs = 50'000, alerts = 10'000;  ///< alerts: of a sink
  std::size_t pool_runs_per_kind = 64, pool_kinds = 1'000;
  Millis age = std::chrono::days(365);  ///< of incidents, jobs and pool runs
  Millis alert_age = std::chrono::days(7);
  std::string vfs;  ///< SQLite's file system, for tests
};

/// One failure of one attempt of one job.
struct Incident {
  std::string id, job;
  std::int64_t attempt = 0;
  std::string state;  ///< as in reports
  TimeMs opened, updated;
  std::optional<TimeMs> resolved;
  std::string report, evidence;  ///< JSON; the report as it was when it was last updated
  bool operator==(const Incident&) const = default;
};

struct JobRow {
  std::string id, kind;
  TimeMs begin, updated;
  std::optional<TimeMs> end;
  std::string outcome;  ///< empty while it runs
  std::int64_t attempts = 0, nodes = 0, ranks = 0, lines = 0, bytes = 0;
  bool operator==(const JobRow&) const = default;
};

/// What one run that ended well has printed, in the form of its maker. `job` names the run.
struct PoolRun {
  std::string kind, job;
  TimeMs ended;
  std::int64_t events = 0;
  std::string content;
  bool operator==(const PoolRun&) const = default;
};

/// How a job ended, as somebody has told.
struct Outcome {
  std::string job, outcome, note, who;
  TimeMs told;
  bool operator==(const Outcome&) const = default;
};

/// To be sent: it stays until somebody says that it was.
struct Alert {
  std::int64_t id = 0;
  std::string sink, incident, content;
  TimeMs created, due;
  std::int64_t tries = 0;
  bool lasts = false;     ///< sent again and again until another takes its place
  bool replaces = false;  ///< takes the place of what waits for its sink and incident; not stored
  bool operator==(const Alert&) const = default;
};

struct IncidentQuery {
  std::string job;  ///< empty: of all
  bool open_only = false;
  std::size_t count = 100;  ///< newest first
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
  Result<void> enqueue(const std::vector<Alert>& alerts);
  /// Of one sink, in the order in which they came.
  Result<std::vector<Alert>> due(const std::string& sink, TimeMs now, std::size_t count);
  Result<void> sent(std::int64_t id);
  Result<void> sent(std::int64_t id, TimeMs again);  ///< one that lasts
  Result<void> failed(std::int64_t id, TimeMs again);
  Result<void> withdraw(const std::string& sink, const std::string& incident);
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
