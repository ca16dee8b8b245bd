// Inside of Database: one connection, opened when it is needed, replaced when it is damaged.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/sqlite.h"

namespace l4::store {

inline std::int64_t ms(TimeMs time) {
  return time.time_since_epoch().count();
}
inline std::optional<std::int64_t> ms(const std::optional<TimeMs>& time) {
  return time ? std::optional(ms(*time)) : std::nullopt;
}
inline TimeMs time_of(std::int64_t ms) {
  return TimeMs{Millis{ms}};
}

struct Database::Impl {
  /// Runs `work(connection)` with the lock held; once more on a new database if this is damaged.
  template <class T, class Work>
  Result<T> call(Work work) {
    const std::lock_guard lock(mutex);
    for (int tries = 0;; ++tries) {
      if (auto connected = connect(); !connected) return std::unexpected(connected.error());
      Result<T> done = work(*connection);
      if (done || connection->last_trouble() != SqlTrouble::damaged || tries > 0) return done;
      put_aside(done.error());
    }
  }
  /// Rows of a query, at most `count`.
  template <class T>
  Result<std::vector<T>> rows(SqlStatement& statement, const std::function<T(SqlStatement&)>& row) {
    std::vector<T> all;
    for (;;) {
      const auto more = statement.step();
      if (!more) return std::unexpected(more.error());
      if (!*more) return all;
      all.push_back(row(statement));
    }
  }

  Result<void> connect();
  Result<void> prepare(SqlConnection& fresh) const;
  void put_aside(const Error& why);

  Path path;
  DatabaseOptions options;
  std::mutex mutex;
  std::optional<SqlConnection> connection;
  std::vector<std::string> trouble;
};

}  // namespace l4::store
