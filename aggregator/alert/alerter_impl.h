// The parts of Alerter. Private to this room: alerter.cc makes and sends, alerter_standing.cc knows
// what stands open and what is silenced.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/alert/alerter.h"

namespace l4::alert {

// Rows that are for no sink: what has to be known after a restart. No sink's name has a slash.
inline constexpr auto kBlindMark = "/blind", kStormMark = "/storm", kSinksMark = "/sinks",
                      kSilencedMark = "/silenced";
inline constexpr std::size_t kMarksMax = 16;

struct Outlet {
  SinkOptions sink;
  std::unique_ptr<Sender> sender;
  std::unique_ptr<Storm> storm;  ///< null where the sink groups by itself, or must not
};

/// What is open, as it was told last, or would have been.
struct Standing {
  Alert alert;
  bool told = false;  ///< at some time
  bool owed = false;  ///< its news came in a silence
  TimeMs queued{};    ///< last
};

/// By these it is known whether a sink is the one from before.
using Known = std::map<std::string, std::string>;  ///< kind, by name

struct Alerter::Impl {
  Impl(AlerterOptions given, store::Database& stored, Hooks outside)
      : options(std::move(given)), database(stored), hooks(std::move(outside)) {}

  std::optional<Known> remembered();
  void remember(TimeMs now);
  std::vector<Outlet> take_out(const Known& wanted);
  void drop(const std::string& sink, const std::string& called, std::uint64_t in_memory);
  void put_in_place(const SinkOptions& sink, bool is_new, std::vector<Outlet>& made, TimeMs now);
  void bring_back(Outlet& outlet);
  void note_standing(const Alert& alert, bool silenced, TimeMs now);
  void recall_owed();
  void tell_owed(TimeMs now);
  void refresh(TimeMs now);
  Alert as_told(const Alert& alert) const;
  void tell_standing(Outlet& outlet, const SinkOptions* before, TimeMs now);
  const Silence* silence_of(const Alert& alert, TimeMs now) const;
  void route(Outlet& outlet, const Alert& alert, const Alert& judged, bool silenced, TimeMs now);
  void queue(const SinkOptions& sink, const Alert& alert, TimeMs due, TimeMs now);
  void mark(const std::string& sink, const std::string& key, std::string content, TimeMs now);
  Result<void> write(const store::Incident* incident);

  AlerterOptions options;
  store::Database& database;
  const Hooks hooks;
  mutable std::mutex mutex;
  std::vector<store::Alert> rows;                         ///< of the alert that is being sent
  std::vector<std::pair<std::string, std::string>> gone;  ///< marks that it takes away
  std::map<std::string, Standing> standing;               ///< by key
  AlerterStats counts;                                    ///< and of sinks that are gone
  std::vector<Outlet> outlets;                            // last: their threads end first
};

}  // namespace l4::alert
