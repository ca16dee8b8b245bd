// Sends alerts: a line to the log at once, and to each sink in its form, again until it arrived.
//
// Flow: any thread calls send(); what sinks must get is written to the database before that
// returns, so it is sent after a restart, too (at least once), by a Sender for each. What is
// silenced is in the log alone until the silence ends: what stands open then is told. Many
// incidents at once are told together where a sink does not group them itself (storm.h). Where the
// database takes nothing, alerts wait in memory, bounded. The database bounds what waits there, in
// number and age. Which sinks there are is remembered there, too: one that is new, by set() or by a
// start, is told what stands open (256 incidents, the newest), and what waits for one that is gone
// is dropped, counted in the log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "aggregator/alert/alert.h"
#include "aggregator/alert/sender.h"
#include "aggregator/alert/storm.h"
#include "aggregator/store/database.h"

namespace l4::alert {

struct Silence {
  Match match;
  TimeMs until{};
};

struct AlerterOptions {
  std::string webhook;  ///< URL of a sink called "webhook" that takes everything; empty: none
  std::filesystem::path ca{};  ///< as of a sink, for the webhook
  Millis timeout{3'000};       ///< likewise
  std::string source = "l4-aggregator";
  std::vector<SinkOptions> sinks;
  std::vector<Silence> silences;
  StormOptions storm;
  SenderOptions sender;
};

struct AlerterStats {
  std::uint64_t alerts = 0, silenced = 0, grouped = 0;
  std::uint64_t posted = 0, failures = 0, dropped = 0;  ///< of all sinks
  std::uint64_t waiting = 0;                            ///< in memory
  std::vector<SinkStats> sinks;
};

class Alerter {
 public:
  using Post = alert::Post;
  using Hooks = alert::Hooks;

  static constexpr std::size_t kStandingMax = 256;

  /// The database outlives this. Starts a thread for each sink. `standing`: incidents that are open
  /// already, as alerts that open them.
  Alerter(AlerterOptions options, store::Database& database, Hooks hooks,
          const std::vector<Alert>& standing = {});
  ~Alerter();
  Alerter(const Alerter&) = delete;
  Alerter& operator=(const Alerter&) = delete;

  /// With the incident that it tells of, if there is one: what is to be sent and the incident are
  /// stored together or not at all. Error: they are not; the alert is sent from memory.
  Result<void> send(const Alert& alert, const store::Incident* incident = nullptr);
  /// Other sinks, silences and times from now on. A sink of the same name and kind keeps what waits
  /// for it. Waits for the tries under way at sinks that are gone. Of one thread.
  void set(AlerterOptions options);
  /// Tells what stands open and is silenced no more; to be called every second or so.
  void look();
  std::string source() const;
  AlerterStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::alert
