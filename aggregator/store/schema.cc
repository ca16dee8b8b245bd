#include "aggregator/store/schema.h"

#include <fmt/format.h>

#include <array>

namespace l4::store {
namespace {

/// PRAGMA user_version counts the applied steps. Times are milliseconds since the epoch. A table
/// with large texts has row ids, and they stand last: SQLite reads all of a row WITHOUT ROWID to
/// compare its key, and all that stands before a column to read it. A report may have 5 MB.
constexpr std::array kSteps{
    R"sql(
    CREATE TABLE incidents (
      id TEXT PRIMARY KEY, job TEXT NOT NULL, attempt INTEGER NOT NULL, state TEXT NOT NULL,
      opened INTEGER NOT NULL, updated INTEGER NOT NULL, resolved INTEGER,
      report TEXT NOT NULL, evidence TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX incidents_by_time ON incidents (opened);
    CREATE INDEX incidents_by_job ON incidents (job, opened);
    CREATE TABLE jobs (
      id TEXT PRIMARY KEY, kind TEXT NOT NULL, begin INTEGER NOT NULL, updated INTEGER NOT NULL,
      "end" INTEGER, outcome TEXT NOT NULL, attempts INTEGER NOT NULL, nodes INTEGER NOT NULL,
      ranks INTEGER NOT NULL, lines INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX jobs_by_time ON jobs (begin);
    CREATE TABLE offsets (
      agent TEXT NOT NULL, file INTEGER NOT NULL, path TEXT NOT NULL, device INTEGER NOT NULL,
      inode INTEGER NOT NULL, fingerprint INTEGER NOT NULL, fingerprint_bytes INTEGER NOT NULL,
      offset INTEGER NOT NULL, lines INTEGER NOT NULL, used INTEGER NOT NULL,
      PRIMARY KEY (agent, file, path)) WITHOUT ROWID;
    CREATE TABLE mirror (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL);
    CREATE TABLE pool (
      kind TEXT NOT NULL, job TEXT NOT NULL, ended INTEGER NOT NULL, events INTEGER NOT NULL,
      content BLOB NOT NULL, PRIMARY KEY (kind, job)) WITHOUT ROWID;
    )sql",
    R"sql(
    CREATE TABLE alerts (
      id INTEGER PRIMARY KEY AUTOINCREMENT, sink TEXT NOT NULL, incident TEXT NOT NULL,
      content TEXT NOT NULL, created INTEGER NOT NULL, due INTEGER NOT NULL,
      tries INTEGER NOT NULL);
    CREATE INDEX alerts_by_due ON alerts (due);
    )sql",
    R"sql(
    ALTER TABLE alerts ADD COLUMN lasts INTEGER NOT NULL DEFAULT 0;
    DROP INDEX alerts_by_due;
    CREATE INDEX alerts_by_sink ON alerts (sink, id);
    )sql",
    R"sql(
    CREATE TABLE snapshots (
      job TEXT NOT NULL, at INTEGER NOT NULL, why TEXT NOT NULL, who TEXT NOT NULL,
      state TEXT NOT NULL, report TEXT NOT NULL, PRIMARY KEY (job, at)) WITHOUT ROWID;
    )sql",
    R"sql(
    CREATE TABLE outcomes (
      job TEXT PRIMARY KEY, outcome TEXT NOT NULL, note TEXT NOT NULL, who TEXT NOT NULL,
      told INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX pool_by_run ON pool (job);
    )sql",
    R"sql(
    ALTER TABLE incidents ADD COLUMN told_state TEXT NOT NULL DEFAULT '';
    ALTER TABLE incidents ADD COLUMN told_node TEXT NOT NULL DEFAULT '';
    ALTER TABLE incidents ADD COLUMN told_rank INTEGER;
    ALTER TABLE incidents ADD COLUMN told_fault TEXT NOT NULL DEFAULT '';
    )sql",
    R"sql(
    CREATE TABLE acknowledgements (
      incident TEXT PRIMARY KEY, job TEXT NOT NULL, who TEXT NOT NULL, note TEXT NOT NULL,
      at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE maintenance (
      id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, pattern TEXT NOT NULL,
      who TEXT NOT NULL, why TEXT NOT NULL, began INTEGER NOT NULL, until INTEGER NOT NULL,
      ended INTEGER, ended_by TEXT NOT NULL);
    CREATE TABLE held_incidents (
      incident TEXT PRIMARY KEY, maintenance INTEGER NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
    )sql",
    R"sql(
    ALTER TABLE incidents ADD COLUMN source TEXT NOT NULL DEFAULT '';
    UPDATE incidents SET source = 'network'
      WHERE job GLOB 'flows-[0-9]*' AND job NOT IN (SELECT id FROM jobs);
    )sql",
    R"sql(
    ALTER TABLE alerts ADD COLUMN event TEXT NOT NULL DEFAULT '';
    ALTER TABLE alerts ADD COLUMN job TEXT NOT NULL DEFAULT '';
    ALTER TABLE alerts ADD COLUMN line TEXT NOT NULL DEFAULT '';
    CREATE INDEX incidents_by_fault ON incidents (told_fault, opened);
    CREATE INDEX incidents_by_node ON incidents (told_node, opened);
    )sql",
    R"sql(
    ALTER TABLE incidents RENAME TO old_incidents;
    CREATE TABLE incidents (
      id TEXT PRIMARY KEY, job TEXT NOT NULL, attempt INTEGER NOT NULL, state TEXT NOT NULL,
      opened INTEGER NOT NULL, updated INTEGER NOT NULL, resolved INTEGER,
      told_state TEXT NOT NULL, told_node TEXT NOT NULL, told_rank INTEGER,
      told_fault TEXT NOT NULL, source TEXT NOT NULL, head_brief TEXT NOT NULL,
      head_evidence TEXT NOT NULL, report TEXT NOT NULL, evidence TEXT NOT NULL);
    INSERT INTO incidents SELECT id, job, attempt, state, opened, updated, resolved, told_state,
      told_node, told_rank, told_fault, source, '', '', report, evidence FROM old_incidents;
    DROP TABLE old_incidents;
    CREATE INDEX incidents_by_time ON incidents (opened);
    CREATE INDEX incidents_by_job ON incidents (job, opened);
    CREATE INDEX incidents_by_fault ON incidents (told_fault, opened);
    CREATE INDEX incidents_by_node ON incidents (told_node, opened);
    ALTER TABLE snapshots RENAME TO old_snapshots;
    CREATE TABLE snapshots (
      job TEXT NOT NULL, at INTEGER NOT NULL, why TEXT NOT NULL, who TEXT NOT NULL,
      state TEXT NOT NULL, report TEXT NOT NULL, PRIMARY KEY (job, at));
    INSERT INTO snapshots SELECT * FROM old_snapshots;
    DROP TABLE old_snapshots;
    )sql",
    R"sql(
    CREATE TABLE labels (
      subject TEXT PRIMARY KEY, job TEXT NOT NULL, source TEXT NOT NULL, truth TEXT NOT NULL,
      claims TEXT NOT NULL, who TEXT NOT NULL, told INTEGER NOT NULL) WITHOUT ROWID;
    )sql",
};

}  // namespace

Result<void> migrate(SqlConnection& connection) {
  const auto version = connection.number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  if (*version < 0 || *version > static_cast<std::int64_t>(kSteps.size()))
    return std::unexpected(
        Error{"", fmt::format("the database has schema {}, this program knows {}: it is of another "
                              "version; install that one, or set [store] folder",
                              *version, kSteps.size())});
  for (auto step = static_cast<std::size_t>(*version); step < kSteps.size(); ++step) {
    SqlTransaction transaction(connection);
    if (!transaction.begun()) return transaction.begun();
    if (auto done = connection.run(kSteps[step]); !done) return done;
    const std::string counted = fmt::format("PRAGMA user_version = {}", step + 1);
    if (auto done = connection.run(counted.c_str()); !done) return done;
    if (auto done = transaction.commit(); !done) return done;
  }
  return {};
}

}  // namespace l4::store
