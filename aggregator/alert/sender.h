// Delivers the alerts of one sink and retries until they have arrived: one thread for each sink.
//
// Flow: Alerter writes rows to the database and calls `stored` for them; a row that the database
// refused comes by `keep` and is sent from memory. The thread sends due alerts in the order in
// which they came. After a failure the whole sink rests, twice as long each time, with jitter; an
// alert that is answered with an error again and again is postponed so that it does not hold up the
// others. An alert that lasts is sent again each `again_every`, for at most `again_for` after its
// last news. Bounds: `waiting_max` alerts in memory, `stored_max` rows of a week; the oldest is
// dropped first and counted. set() may change address and times while the thread runs: waiting
// alerts go to the new address. A test of the sink runs on the same thread, by the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "aggregator/alert/delivery.h"
#include "aggregator/alert/sink.h"
#include "aggregator/store/database.h"
#include "common/base/error.h"

namespace l4::alert {

struct Hooks {
  Post post;
  std::function<void(const std::string&)> log;  ///< any thread
  std::function<TimeMs()> now;
};

struct SenderOptions {
  std::size_t waiting_max = 256, stored_max = 10'000;
  Millis retry_first{1'000}, retry_most{300'000};
  Millis again_every{60'000}, again_for{std::chrono::days(1)};
  Millis poll_every{1'000};  ///< time between polls of the database, if `stored` is not called
  std::uint64_t seed = 0;    ///< makes the jitter
  bool operator==(const SenderOptions&) const = default;
};

struct SinkStats {
  std::string sink, kind;
  std::uint64_t posted = 0, failures = 0, dropped = 0;
  std::string trouble;  ///< why the last try failed; empty if it worked, or nothing was tried yet
  std::optional<TimeMs> tried;  ///< the last try, a test included
  std::uint64_t waiting = 0;  ///< due or failed in the database when last polled, and all in memory
  std::uint64_t in_memory = 0;
};

class Sender {
 public:
  /// The database outlives this.
  Sender(SinkOptions sink, SenderOptions options, store::Database& database, Hooks hooks);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// `sink` has the same name and kind. Applies from the next try on, which is made at once.
  void set(SinkOptions sink, SenderOptions options);
  /// The row is in the database. If it `replaces`, rows in memory of its incident are dropped.
  void stored(const store::Alert& row);
  /// Sends these bodies, one after the other, before anything that waits, also while the sink
  /// rests. If the sink takes them, it rests no longer. Calls `then` on its thread; a former test
  /// that has not begun yet is given up.
  void test(std::vector<std::string> bodies, std::function<void(Result<void>, Millis)> then);
  /// Sends the row from memory.
  void keep(store::Alert row);
  /// Asks the thread to end; the destructor waits for it.
  void stop();
  SinkStats stats() const;
  /// What waits, at most kWaitingShown rows, and what was sent (delivery.h). Reads the database.
  std::vector<Delivery> deliveries() const;
  static constexpr std::size_t kWaitingShown = 64;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::alert
