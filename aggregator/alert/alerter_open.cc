// Keeps the open alerts, and sends them again: to new sinks, and when a silence ends.
#include <fmt/format.h>

#include <algorithm>

#include "aggregator/alert/alerter_impl.h"

namespace l4::alert {

void Alerter::Impl::note_open(const Alert& alert, bool silenced, TimeMs now) {
  if (alert.kind == Kind::name_twice) return;
  const std::string which = key(alert);
  const auto known = open.find(which);
  if ((!silenced || is_over(alert)) && known != open.end() && known->second.owed)
    mark(kSilencedMark, which, {}, now);
  if (is_over(alert)) {
    open.erase(which);
    return;
  }
  OpenAlert& noted = open[which];
  noted.alert = alert;
  if (alert.kind == Kind::changed)
    noted.alert.kind = Kind::opened;  // for sinks that have not got it
  noted.owed = silenced;
  noted.queued = now;
  if (!silenced) noted.sent = true;
  if (silenced) mark(kSilencedMark, which, noted.sent ? "told" : "untold", now);
  if (open.size() <= kOpenMax) return;
  open.erase(std::ranges::min_element(open, {}, [](const auto& entry) {
    const Alert& one = entry.second.alert;
    return std::pair(one.kind != Kind::noticed, one.at);  // notices leave first
  }));
}

/// Restores which open alerts were silenced before a restart.
void Alerter::Impl::restore_owed() {
  const auto marks = database.due(kSilencedMark, TimeMs::max(), kOpenMax);
  for (const store::Alert& stored : marks.value_or(std::vector<store::Alert>{})) {
    const auto at = open.find(stored.incident);
    if (at == open.end()) {
      gone.emplace_back(kSilencedMark, stored.incident);
      continue;
    }
    at->second.owed = true;
    at->second.sent = stored.content == "told";
  }
}

/// Sends each alert whose silence has ended to every sink that accepts it, however old it is.
void Alerter::Impl::send_owed(TimeMs now) {
  for (auto& [key, entry] : open) {
    if (!entry.owed || hold_of(entry.alert, now)) continue;
    Alert alert = entry.alert;
    if (entry.sent && alert.kind == Kind::opened) alert.kind = Kind::changed;
    hooks.log("no longer held back: " + to_line(alert));
    for (Outlet& outlet : outlets) route(outlet, alert, alert, false, now);
    entry.owed = false;
    entry.sent = true;
    entry.queued = now;
    mark(kSilencedMark, key, {}, now);
  }
}

/// Queues open alerts about the aggregator itself again, so that they last until their end is sent.
/// An incident without news does not last: it may no longer be of interest.
void Alerter::Impl::refresh(TimeMs now) {
  for (auto& [key, entry] : open) {
    if (!entry.alert.job.empty() || entry.owed || now - entry.queued < options.sender.again_for / 2)
      continue;
    entry.queued = now;
    for (Outlet& outlet : outlets)
      if (outlet.sink.kind->repeats) route(outlet, entry.alert, entry.alert, false, now);
  }
}

/// Sends the open alerts that the sink did not accept with its options `before`, oldest first.
/// Leaves out alerts older than `again_for` and those that send_owed() sends.
void Alerter::Impl::send_open(Outlet& outlet, const SinkOptions* before, TimeMs now) {
  std::vector<const Alert*> missing;
  for (const auto& [key, entry] : open) {
    const Alert& alert = entry.alert;
    if (entry.owed || alert.at + options.sender.again_for <= now) continue;
    if (hold_of(alert, now) || !accepts(outlet.sink, alert)) continue;
    if (before == nullptr || !accepts(*before, alert)) missing.push_back(&alert);
  }
  if (missing.empty()) return;
  std::ranges::sort(missing, {}, [](const Alert* alert) { return alert->at; });
  for (const Alert* alert : missing) route(outlet, *alert, *alert, false, now);
  hooks.log(fmt::format("{}: is told what stands open: {}", log_name(outlet.sink), missing.size()));
}

std::optional<Hold> Alerter::Impl::hold_of(const Alert& alert, TimeMs now) const {
  const auto at = std::ranges::find_if(options.silences, [&](const Silence& silence) {
    return now < silence.until && silences(silence.filter, alert);
  });
  if (at != options.silences.end())
    return Hold{Hold::Why::silence, "silenced until " + to_rfc3339(at->until)};
  if (const auto maintenance = quiet.holds(alert, now))
    return Hold{Hold::Why::maintenance,
                fmt::format("in maintenance {} until {}", maintenance_name(maintenance->id),
                            to_rfc3339(maintenance->until)),
                maintenance->id};
  if (alert.incident.empty() || is_over(alert)) return std::nullopt;
  if (const auto told = quiet.acknowledgement(alert.incident))
    return Hold{Hold::Why::acknowledged, "acknowledged by " + told->who};
  return std::nullopt;
}

void Alerter::Impl::count_hold(const Hold& hold, const Alert& alert, TimeMs now) {
  if (hold.why == Hold::Why::silence) ++counts.silenced;
  if (hold.why == Hold::Why::acknowledged) ++counts.acknowledged;
  if (hold.why != Hold::Why::maintenance) return;
  ++counts.maintenance;
  if (!alert.incident.empty()) quiet.note_held(alert.incident, hold.maintenance, now);
}

/// The end of an incident names no node or fault; it gets those of the open alert, so that the same
/// filters match it.
Alert Alerter::Impl::as_sent(const Alert& alert) const {
  Alert judged = alert;
  const auto at = open.find(key(alert));
  if (!is_over(alert) || at == open.end()) return judged;
  judged.nodes = at->second.alert.nodes;
  judged.faults = at->second.alert.faults;
  return judged;
}

}  // namespace l4::alert
