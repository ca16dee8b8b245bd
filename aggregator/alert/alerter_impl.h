// The parts of Alerter. Private to this room: alerter.cc makes and sends alerts, alerter_open.cc
// knows which alerts are open and which are silenced.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/alert/alerter.h"
#include "aggregator/alert/sink_kind.h"
#include "common/base/mutex.h"

namespace l4::alert {

// Rows for no sink: state that a restart needs. The name of a sink has no slash.
inline constexpr auto kBlindMark = "/blind", kStormMark = "/storm", kSinksMark = "/sinks",
                      kSilencedMark = "/silenced";
inline constexpr std::size_t kMarksMax = 16;

struct Outlet {
  SinkOptions sink;
  std::unique_ptr<Sender> sender;
  std::unique_ptr<Storm> storm;  ///< null if the sink groups by itself or must not group
};

/// An alert that is open.
struct OpenAlert {
  Alert alert;        ///< as it was last sent, or would have been without the silence
  bool sent = false;  ///< it was sent at some time
  bool owed = false;  ///< its latest change came during a silence
  TimeMs queued{};    ///< when it was last queued
};

/// Why an alert is not sent now.
struct Hold {
  enum class Why : std::uint8_t { silence, acknowledged, maintenance };
  Why why = Why::silence;
  std::string text;              ///< for the log
  std::int64_t maintenance = 0;  ///< its id
};

/// The kind of each sink by its name: a sink of the same name and kind is the same sink.
using KnownSinks = std::map<std::string, std::string>;

struct Alerter::Impl {
  Impl(AlerterOptions given, store::Database& stored, Hooks outside)
      : database(stored),
        hooks(std::move(outside)),
        quiet(stored, hooks.log),
        options(std::move(given)) {}

  std::optional<KnownSinks> load_known();
  void save_known(TimeMs now) L4_REQUIRES(mutex);
  std::vector<Outlet> remove_outlets(const KnownSinks& wanted) L4_EXCLUDES(mutex);
  void drop(const std::string& sink, const std::string& log_name, std::uint64_t in_memory)
      L4_EXCLUDES(mutex);
  void install(const SinkOptions& sink, bool is_new, std::vector<Outlet>& made, TimeMs now)
      L4_REQUIRES(mutex);
  void restore_storms(Outlet& outlet);
  void note_open(const Alert& alert, bool silenced, TimeMs now) L4_REQUIRES(mutex);
  void restore_owed() L4_REQUIRES(mutex);
  void send_owed(TimeMs now) L4_REQUIRES(mutex);
  void refresh(TimeMs now) L4_REQUIRES(mutex);
  Alert as_sent(const Alert& alert) const L4_REQUIRES(mutex);
  void send_open(Outlet& outlet, const SinkOptions* before, TimeMs now) L4_REQUIRES(mutex);
  std::optional<Hold> hold_of(const Alert& alert, TimeMs now) const L4_REQUIRES(mutex);
  void count_hold(const Hold& hold, const Alert& alert, TimeMs now) L4_REQUIRES(mutex);
  void route(Outlet& outlet, const Alert& alert, const Alert& judged, bool silenced, TimeMs now)
      L4_REQUIRES(mutex);
  void queue(const SinkOptions& sink, const Alert& alert, TimeMs due, TimeMs now)
      L4_REQUIRES(mutex);
  void mark(const std::string& sink, const std::string& key, std::string content, TimeMs now)
      L4_REQUIRES(mutex);
  bool is_asked_for(const Alert& alert) const L4_REQUIRES(mutex);
  std::vector<std::string> test_bodies(const SinkOptions& sink, const std::string& who,
                                       TimeMs now) const L4_REQUIRES(mutex);
  Result<void> write(const store::Incident* incident) L4_REQUIRES(mutex);

  store::Database& database;
  const Hooks hooks;
  QuietBook quiet;
  mutable Mutex mutex;
  AlerterOptions options L4_GUARDED_BY(mutex);
  /// Rows of the alert that is being sent.
  std::vector<store::Alert> rows L4_GUARDED_BY(mutex);
  /// Marks that this alert removes.
  std::vector<std::pair<std::string, std::string>> gone L4_GUARDED_BY(mutex);
  std::shared_ptr<Trial> trial L4_GUARDED_BY(mutex);           ///< the last one, perhaps over
  std::map<std::string, OpenAlert> open L4_GUARDED_BY(mutex);  ///< by key
  AlerterStats counts L4_GUARDED_BY(mutex);                    ///< includes those of removed sinks
  std::vector<Outlet> outlets L4_GUARDED_BY(mutex);            // last: their threads end first
};

}  // namespace l4::alert
