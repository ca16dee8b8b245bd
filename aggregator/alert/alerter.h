// Sends alerts: a line to the log at once, and JSON to a webhook, again until it has arrived.
//
// Flow: any thread calls send(); what the webhook must get is written to the database before that
// returns, so it is sent after a restart, too (at least once), and posted by a thread of its own
// with a growing pause after failures. If the database takes nothing, it waits in memory: bounded,
// the oldest goes first, counted. The database bounds what waits there, in number and age.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "aggregator/alert/alert.h"
#include "aggregator/store/database.h"
#include "common/base/error.h"

namespace l4::alert {

struct AlerterOptions {
  std::string webhook;  ///< URL; empty: none
  std::string source = "l4-aggregator";
  std::size_t waiting_max = 256;  ///< in memory
  Millis retry_first{1'000}, retry_most{300'000};
};

struct AlerterStats {
  std::uint64_t alerts = 0, posted = 0, failures = 0, dropped = 0, waiting = 0;
};

class Alerter {
 public:
  /// HTTP status, or why there is none; may wait some seconds. Anything but 2xx is tried again.
  using Post = std::function<Result<unsigned>(const std::string& url, const std::string& body)>;
  struct Hooks {
    Post post;
    std::function<void(const std::string&)> log;  ///< any thread
    std::function<TimeMs()> now;
  };

  /// The database outlives this. Starts the thread if there is a webhook.
  Alerter(AlerterOptions options, store::Database& database, Hooks hooks);
  ~Alerter();
  Alerter(const Alerter&) = delete;
  Alerter& operator=(const Alerter&) = delete;

  void send(const Alert& alert);
  AlerterStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::alert
