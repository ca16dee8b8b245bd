// Sends alerts: logs each one at once, and delivers it to each sink, with retries until it arrived.
//
// Flow: any thread calls send(), which writes one row for each sink to the database before it
// returns; one Sender for each sink delivers the rows at least once, also after a restart. An alert
// that is held back (silenced, of an acknowledged incident, in maintenance) is only logged; when
// that ends, the alerts that are still open are sent. An acknowledgement does not hold back the end
// of its incident, and it is forgotten when the incident opens again.
// Many incidents at once are sent together to a sink that does not group them itself (storm.h).
// While the database refuses rows, they wait in memory, bounded; the database bounds its rows in
// number and age. The database also stores the list of sinks. A new sink, after set() or a start,
// gets the open alerts (the newest 256); the waiting rows of a removed sink are dropped, and the
// log says how many.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "aggregator/alert/alert.h"
#include "aggregator/alert/quiet_book.h"
#include "aggregator/alert/sender.h"
#include "aggregator/alert/storm.h"
#include "aggregator/alert/trial.h"
#include "aggregator/store/database.h"

namespace l4::alert {

struct Silence {
  AlertFilter filter;
  TimeMs until{};
};

struct AlerterOptions {
  std::string webhook;  ///< URL of a sink called "webhook" that accepts every alert; empty: none
  std::filesystem::path ca{};  ///< SinkOptions::ca of the webhook
  Millis timeout{3'000};       ///< SinkOptions::timeout of the webhook
  Origin origin{.source = "l4-aggregator"};
  std::vector<SinkOptions> sinks;
  std::vector<Silence> silences;
  StormOptions storm;
  SenderOptions sender;
};

struct AlerterStats {
  std::uint64_t alerts = 0, silenced = 0, grouped = 0;
  std::uint64_t acknowledged = 0, maintenance = 0;      ///< alerts that these held back
  std::uint64_t posted = 0, failures = 0, dropped = 0;  ///< sums over all sinks
  std::uint64_t waiting = 0;                            ///< alerts that wait in memory
  QuietCounts quiet;
  std::vector<SinkStats> sinks;
};

class Alerter {
 public:
  using Post = alert::Post;
  using Hooks = alert::Hooks;

  static constexpr std::size_t kOpenMax = 256;

  /// Starts a thread for each sink. The database outlives this. `open`: the alerts that opened the
  /// incidents that are open now.
  Alerter(AlerterOptions options, store::Database& database, Hooks hooks,
          const std::vector<Alert>& open = {});
  ~Alerter();
  Alerter(const Alerter&) = delete;
  Alerter& operator=(const Alerter&) = delete;

  /// Stores the rows of the alert and the incident that it reports, if there is one, in one
  /// transaction. Error: neither is stored; the alert is sent from memory.
  Result<void> send(const Alert& alert, const store::Incident* incident = nullptr);
  /// Changes sinks, silences and times. A sink of the same name and kind keeps its waiting rows.
  /// Waits for the current tries of removed sinks. Called by one thread at a time.
  void set(AlerterOptions options);
  /// Sends the open alerts whose silence has ended. To be called about every second.
  void poll();
  /// Sends a test alert through every sink, or through the one called `sink`, whatever it accepts
  /// and whether it rests. It is no alert of ours: it is not stored, counted or silenced. `then` is
  /// called once within Trial::kMost, as long as `poll` is called; with no rows if there are no
  /// sinks. It is not called if the test is refused.
  std::expected<void, TrialRefusal> test(const std::string& sink, const std::string& who,
                                         TrialThen then);
  Origin origin() const;
  /// What people want to be quiet about; thread-safe by itself.
  QuietBook& quiet();
  AlerterStats stats() const;
  /// Of each sink what waits and what was sent, in the order of the sinks; see Sender::deliveries.
  std::vector<Delivery> deliveries() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::alert
