#include "aggregator/store/database.h"

#include <fmt/format.h>

#include <array>

#include "aggregator/store/database_impl.h"
#include "aggregator/store/schema.h"

namespace l4::store {

Database::Database(const Path& path, DatabaseOptions options,
                   std::function<void(const std::string&)> warn)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->options = std::move(options);
  impl_->warn = std::move(warn);
}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

/// With an exclusive lock SQLite needs no shared memory, whose pages a full disk could take away.
Result<void> Database::Impl::prepare(SqlConnection& fresh) const {
  if (auto done = fresh.run("PRAGMA locking_mode = EXCLUSIVE"); !done) return done;
  if (const auto check = fresh.text("PRAGMA quick_check(1)"); !check || *check != "ok") {
    if (!check) return std::unexpected(check.error());
    return std::unexpected(Error{path.string(), "damaged: " + *check});
  }
  if (auto done = fresh.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                            "PRAGMA journal_size_limit = 16777216;");
      !done)
    return done;
  const auto page = fresh.number("PRAGMA page_size");
  if (!page) return std::unexpected(page.error());
  const std::string most =
      fmt::format("PRAGMA max_page_count = {}",
                  options.bytes_max / static_cast<std::uint64_t>(std::max<std::int64_t>(*page, 1)));
  if (auto done = migrate(fresh); !done) return done;  // may need the room of a table once more
  return fresh.run(most.c_str());
}

Result<void> Database::Impl::connect() {
  if (connection) return {};
  for (int tries = 0;; ++tries) {
    auto fresh = SqlConnection::open(path, options.vfs);
    if (!fresh) return std::unexpected(fresh.error());
    const auto done = prepare(*fresh);
    if (done) {
      connection = *std::move(fresh);
      return {};
    }
    const bool damaged = fresh->last_trouble() == SqlTrouble::damaged ||
                         done.error().reason.starts_with("damaged: ");
    if (!damaged || tries > 0) return done;
    connection = *std::move(fresh);
    replace(done.error());
  }
}

/// Renames the damaged files, so that people can examine them; the files of an earlier damage are
/// removed.
void Database::Impl::replace(const Error& why) {
  connection.reset();
  const std::string aside = path.string() + ".corrupt";
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code error;
    std::filesystem::remove(aside + suffix, error);
    std::filesystem::rename(path.string() + suffix, aside + suffix, error);
  }
  if (warn) warn(why.text() + "; it is kept as " + aside + " and a new one is begun");
}

Result<void> Database::ready() {
  const MutexLock lock(impl_->mutex);
  return impl_->connect();
}

namespace {

/// Offsets and keys use all 64 bits; SQLite's numbers have a sign, with the same bits.
std::int64_t bits(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

Result<void> Database::mirror(const OffsetTable& offsets, Seq position) {
  return impl_->call<void>([&](SqlConnection& connection) -> Result<void> {
    SqlTransaction transaction(connection);
    if (!transaction.begun()) return transaction.begun();
    if (auto done = connection.run("DELETE FROM offsets"); !done) return done;
    SqlStatement insert(connection, "INSERT INTO offsets VALUES (?,?,?,?,?,?,?,?,?,?)");
    for (const std::string& agent : offsets.agents())
      for (const Position& at : offsets.positions(agent)) {
        insert.reset();
        insert.bind(agent).bind(bits(at.file.key)).bind(at.path).bind(bits(at.file.device));
        insert.bind(bits(at.file.inode)).bind(bits(at.file.fingerprint));
        insert.bind(std::int64_t{at.file.fingerprint_bytes}).bind(bits(at.offset));
        insert.bind(bits(at.lines)).bind(ms(at.used));
        if (auto done = insert.done(); !done) return done;
      }
    SqlStatement counted(connection, "INSERT OR REPLACE INTO mirror VALUES (1, ?)");
    counted.bind(bits(position.value()));
    if (auto done = counted.done(); !done) return done;
    return transaction.commit();
  });
}

Result<std::uint64_t> Database::retain(TimeMs now) {
  const DatabaseOptions& options = impl_->options;
  constexpr Millis kIncidentWaits = std::chrono::hours(1);  // its row may come after the mark
  const std::int64_t old = ms(now - options.age), old_alert = ms(now - options.alert_age);
  struct Rule {
    const char* sql;
    std::int64_t value;
  };
  const auto most = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  const std::array rules{
      Rule{"DELETE FROM incidents WHERE updated < ?", old},
      Rule{"DELETE FROM incidents WHERE id IN (SELECT id FROM incidents ORDER BY opened DESC, id "
           "DESC LIMIT -1 OFFSET ?)",
           most(options.incidents)},
      Rule{"DELETE FROM snapshots WHERE at < ?", ms(now - options.snapshot_age)},
      Rule{"DELETE FROM snapshots WHERE (job, at) IN (SELECT job, at FROM snapshots ORDER BY at "
           "DESC, job LIMIT -1 OFFSET ?)",
           most(options.snapshots)},
      Rule{"DELETE FROM jobs WHERE updated < ?", old},
      Rule{"DELETE FROM jobs WHERE id IN (SELECT id FROM jobs ORDER BY begin DESC, id DESC LIMIT "
           "-1 OFFSET ?)",
           most(options.jobs)},
      Rule{"DELETE FROM outcomes WHERE told < ?", old},
      Rule{"DELETE FROM labels WHERE subject IN (SELECT subject FROM labels ORDER BY told DESC, "
           "subject LIMIT -1 OFFSET ?)",
           most(options.labels)},
      Rule{"DELETE FROM acknowledgements WHERE incident NOT IN (SELECT id FROM incidents) AND at "
           "< ?",
           ms(now - kIncidentWaits)},
      Rule{"DELETE FROM held_incidents WHERE incident NOT IN (SELECT id FROM incidents) AND at < ?",
           ms(now - kIncidentWaits)},
      Rule{"DELETE FROM maintenance WHERE coalesce(ended, until) < ?", old},
      Rule{"DELETE FROM maintenance WHERE id IN (SELECT id FROM maintenance ORDER BY "
           "coalesce(ended, until) DESC LIMIT -1 OFFSET ?)",
           most(options.maintenance)},
      // Alerts that last are sent again until they end, and the code that sets a mark (SINK/WHAT)
      // removes it.
      Rule{"DELETE FROM alerts WHERE created < ? AND lasts = 0 AND sink NOT LIKE '%/%'", old_alert},
      Rule{"DELETE FROM alerts WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER "
           "(PARTITION BY sink ORDER BY id DESC) AS place FROM alerts) WHERE place > ?)",
           most(options.alerts)},
  };
  return impl_->call<std::uint64_t>([&](SqlConnection& connection) -> Result<std::uint64_t> {
    std::uint64_t gone = 0;
    SqlTransaction transaction(connection);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    for (const Rule& rule : rules) {
      SqlStatement statement(connection, rule.sql);
      statement.bind(rule.value);
      if (auto done = statement.done(); !done) return std::unexpected(done.error());
      gone += static_cast<std::uint64_t>(connection.changes());
    }
    if (auto done = transaction.commit(); !done) return std::unexpected(done.error());
    return gone;
  });
}

}  // namespace l4::store
