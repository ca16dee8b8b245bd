// The inside of Database: one connection, opened when it is needed, replaced when it is damaged.
// Private to this room.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/sqlite.h"
#include "common/base/check.h"
#include "common/base/mutex.h"

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
  /// Runs `work(connection)` with the lock held; repeats it on a new database if this one is
  /// damaged.
  template <class T, class Work>
  Result<T> call(Work work) {
    const MutexLock lock(mutex);
    for (int tries = 0;; ++tries) {
      if (auto connected = connect(); !connected) return std::unexpected(connected.error());
      L4_CHECK(connection.has_value(), "{} was opened without a connection", path.string());
      Result<T> done = work(*connection);
      if (done || connection->last_trouble() != SqlTrouble::damaged || tries > 0) return done;
      replace(done.error());
    }
  }
  /// All rows of a query.
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

  Result<void> connect() L4_REQUIRES(mutex);
  Result<void> prepare(SqlConnection& fresh) const;
  void replace(const Error& why) L4_REQUIRES(mutex);

  Path path;
  DatabaseOptions options;
  std::function<void(const std::string&)> warn;
  Mutex mutex;
  std::optional<SqlConnection> connection L4_GUARDED_BY(mutex);
};

}  // namespace l4::store
