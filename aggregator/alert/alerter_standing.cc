// What stands open, and what is to be told of it to whom was not told: new sinks, ends of silences.
#include <fmt/format.h>

#include <algorithm>

#include "aggregator/alert/alerter_impl.h"

namespace l4::alert {

void Alerter::Impl::note_standing(const Alert& alert, bool silenced, TimeMs now) {
  if (alert.kind == Kind::name_twice) return;
  const std::string which = key(alert);
  const auto known = standing.find(which);
  if ((!silenced || is_over(alert)) && known != standing.end() && known->second.owed)
    mark(kSilencedMark, which, {}, now);
  if (is_over(alert)) {
    standing.erase(which);
    return;
  }
  Standing& noted = standing[which];
  noted.alert = alert;
  if (alert.kind == Kind::changed) noted.alert.kind = Kind::opened;  // for who is told of it first
  noted.owed = silenced;
  noted.queued = now;
  if (!silenced) noted.told = true;
  if (silenced) mark(kSilencedMark, which, noted.told ? "told" : "untold", now);
  if (standing.size() <= kStandingMax) return;
  standing.erase(
      std::ranges::min_element(standing, {}, [](const auto& one) { return one.second.alert.at; }));
}

/// What was silenced before a restart.
void Alerter::Impl::recall_owed() {
  const auto marks = database.due(kSilencedMark, TimeMs::max(), kStandingMax);
  for (const store::Alert& one : marks.value_or(std::vector<store::Alert>{})) {
    const auto at = standing.find(one.incident);
    if (at == standing.end()) {
      gone.emplace_back(kSilencedMark, one.incident);
      continue;
    }
    at->second.owed = true;
    at->second.told = one.content == "told";
  }
}

/// Whose silence has ended: each sink that takes it hears of it, however old it is.
void Alerter::Impl::tell_owed(TimeMs now) {
  for (auto& [key, one] : standing) {
    if (!one.owed || silence_of(one.alert, now) != nullptr) continue;
    Alert alert = one.alert;
    if (one.told && alert.kind == Kind::opened) alert.kind = Kind::changed;
    hooks.log("no longer silenced: " + to_line(alert));
    for (Outlet& outlet : outlets) route(outlet, alert, alert, false, now);
    one.owed = false;
    one.told = true;
    one.queued = now;
    mark(kSilencedMark, key, {}, now);
  }
}

/// What is said of the aggregator itself holds until its end is told; an incident without news does
/// not, as it may be that nobody cares any more.
void Alerter::Impl::refresh(TimeMs now) {
  for (auto& [key, one] : standing) {
    if (!one.alert.job.empty() || one.owed || now - one.queued < options.sender.again_for / 2)
      continue;
    one.queued = now;
    for (Outlet& outlet : outlets)
      if (is_told_again(outlet.sink.kind)) route(outlet, one.alert, one.alert, false, now);
  }
}

/// Of what it did not take before, oldest first; nothing of what is so old that nobody is told
/// again, or of what comes when a silence ends.
void Alerter::Impl::tell_standing(Outlet& outlet, const SinkOptions* before, TimeMs now) {
  std::vector<const Alert*> open;
  for (const auto& [key, one] : standing)
    if (const Alert& alert = one.alert; !one.owed && alert.at + options.sender.again_for > now &&
                                        silence_of(alert, now) == nullptr &&
                                        takes(outlet.sink, alert) &&
                                        (before == nullptr || !takes(*before, alert)))
      open.push_back(&alert);
  if (open.empty()) return;
  std::ranges::sort(open, {}, [](const Alert* alert) { return alert->at; });
  for (const Alert* alert : open) route(outlet, *alert, *alert, false, now);
  hooks.log(fmt::format("{}: is told what stands open: {}", called(outlet.sink), open.size()));
}

const Silence* Alerter::Impl::silence_of(const Alert& alert, TimeMs now) const {
  const auto at = std::ranges::find_if(options.silences, [&](const Silence& silence) {
    return now < silence.until && holds(silence.match, alert, topic(alert.kind));
  });
  return at == options.silences.end() ? nullptr : &*at;
}

/// The end of an incident names neither node nor fault any more; it goes where they were told.
Alert Alerter::Impl::as_told(const Alert& alert) const {
  Alert judged = alert;
  const auto at = standing.find(key(alert));
  if (!is_over(alert) || at == standing.end()) return judged;
  judged.nodes = at->second.alert.nodes;
  judged.faults = at->second.alert.faults;
  return judged;
}

}  // namespace l4::alert
