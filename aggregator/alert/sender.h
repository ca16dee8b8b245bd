// Brings the alerts of one sink there, again until they have arrived: one thread a sink.
//
// Flow: Alerter writes rows to the database and tells of them by `stored`; what the database did
// not take comes by `keep`, and what lasts is sent again from memory, too. The thread sends what is
// due in the order in which it came. After a failure the whole sink rests, twice as long each time,
// with jitter; one that is answered with an error again and again is put off so that it does not
// hold up the others. What lasts is sent again each `again_every`, for at most `again_for` after
// its last news. Bounds: `waiting_max` in memory, `stored_max` rows of a week; the oldest goes
// first, counted. set() may put another address and other times in place while it runs: what waits
// goes there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "aggregator/alert/sink.h"
#include "aggregator/store/database.h"
#include "common/base/error.h"

namespace l4::alert {

/// HTTP status, or why there is none; may wait some seconds. Anything but 2xx is tried again.
using Post = std::function<Result<unsigned>(const Request& request)>;

struct Hooks {
  Post post;
  std::function<void(const std::string&)> log;  ///< any thread
  std::function<TimeMs()> now;
};

struct SenderOptions {
  std::size_t waiting_max = 256, stored_max = 10'000;
  Millis retry_first{1'000}, retry_most{300'000};
  Millis again_every{60'000}, again_for{std::chrono::days(1)};
  Millis look_every{1'000};  ///< at the database, where nothing rings
  std::uint64_t seed = 0;    ///< of the jitter
  bool operator==(const SenderOptions&) const = default;
};

struct SinkStats {
  std::string sink;
  std::uint64_t posted = 0, failures = 0, dropped = 0;
  std::uint64_t waiting = 0;  ///< due or tried in vain, as of its last look; and in memory
  std::uint64_t in_memory = 0;
};

class Sender {
 public:
  /// The database outlives this.
  Sender(SinkOptions sink, SenderOptions options, store::Database& database, Hooks hooks);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// Of the same name and kind; holds from the next try on, which is made at once.
  void set(SinkOptions sink, SenderOptions options);
  /// The row is in the database, and takes the place of what is kept, if it `replaces`.
  void stored(const store::Alert& row);
  void keep(store::Alert row);
  /// Asks the thread to end; the destructor waits for it.
  void stop();
  SinkStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::alert
