#include "aggregator/alert/alerter.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace l4::alert {
namespace {

constexpr auto kWebhook = "webhook";
// Rows that are for no sink: what has to be known after a restart. No sink's name has a slash.
constexpr auto kBlindMark = "/blind", kStormMark = "/storm";
constexpr std::size_t kMarksMax = 16;

struct Outlet {
  std::unique_ptr<Sender> sender;
  std::unique_ptr<Storm> storm;  ///< null where the sink groups by itself, or must not
};

}  // namespace

struct Alerter::Impl {
  Impl(AlerterOptions given, store::Database& stored, Hooks outside)
      : options(std::move(given)), database(stored), hooks(std::move(outside)) {}

  void add(const SinkOptions& sink, const std::string& called);
  void bring_back();
  const Silence* silence_of(const Alert& alert, TimeMs now) const;
  void route(Outlet& outlet, const Alert& alert, bool silenced, TimeMs now);
  void queue(const SinkOptions& sink, const Alert& alert, TimeMs due, TimeMs now);
  void mark(const std::string& sink, const std::string& key, std::string content, TimeMs now);
  Result<void> write(const store::Incident* incident);

  const AlerterOptions options;
  store::Database& database;
  const Hooks hooks;
  mutable std::mutex mutex;
  std::vector<store::Alert> rows;                         ///< of the alert that is being sent
  std::vector<std::pair<std::string, std::string>> gone;  ///< marks that it takes away
  AlerterStats counts;
  std::vector<Outlet> outlets;  // last: their threads end first
};

Alerter::Alerter(AlerterOptions options, store::Database& database, Hooks hooks)
    : impl_(std::make_unique<Impl>(std::move(options), database, std::move(hooks))) {
  Impl& impl = *impl_;
  if (!impl.options.webhook.empty()) {
    SinkOptions sink;
    sink.name = kWebhook;
    sink.url = impl.options.webhook;
    sink.ca = impl.options.ca;
    sink.groups = false;
    impl.add(sink, fmt::format("webhook {}", sink.url));
  }
  for (const SinkOptions& sink : impl.options.sinks)
    impl.add(sink, fmt::format("alerts to {} ({})", sink.name, name(sink.kind)));
  if (impl.outlets.empty()) return;
  impl.bring_back();
  const auto blind = database.due(kBlindMark, TimeMs::max(), 1);
  if (!blind || blind->empty()) return;
  Alert over;
  over.kind = Kind::sighted;
  over.at = impl.hooks.now();
  over.summary = "the aggregator was started anew and says again if it is blind";
  static_cast<void>(send(over));
}

/// All at once: each may wait for an answer for some seconds.
Alerter::~Alerter() {
  for (const Outlet& outlet : impl_->outlets) outlet.sender->stop();
}

void Alerter::Impl::add(const SinkOptions& sink, const std::string& called) {
  Outlet outlet;
  outlet.sender = std::make_unique<Sender>(sink, called, options.sender, database, hooks);
  if (sink.groups && !groups_itself(sink.kind))
    outlet.storm = std::make_unique<Storm>(options.storm);
  outlets.push_back(std::move(outlet));
}

void Alerter::Impl::bring_back() {
  for (const Outlet& outlet : outlets) {
    if (!outlet.storm) continue;
    const auto marks =
        database.due(outlet.sender->sink().name + kStormMark, TimeMs::max(), kMarksMax);
    for (const store::Alert& mark : marks.value_or(std::vector<store::Alert>{}))
      outlet.storm->restore(mark.incident, mark.content);
  }
}

const Silence* Alerter::Impl::silence_of(const Alert& alert, TimeMs now) const {
  if (alert.job.empty()) return nullptr;
  const auto at = std::ranges::find_if(options.silences, [&](const Silence& silence) {
    return now < silence.until && matches(silence.job, alert.job);
  });
  return at == options.silences.end() ? nullptr : &*at;
}

Result<void> Alerter::send(const Alert& alert, const store::Incident* incident) {
  Impl& impl = *impl_;
  const TimeMs now = impl.hooks.now();
  const Silence* silence = impl.silence_of(alert, now);
  impl.hooks.log(silence == nullptr ? to_line(alert)
                                    : fmt::format("silenced until {}: {}",
                                                  to_rfc3339(silence->until), to_line(alert)));
  const std::lock_guard lock(impl.mutex);
  ++impl.counts.alerts;
  if (silence != nullptr) ++impl.counts.silenced;
  for (Outlet& outlet : impl.outlets) impl.route(outlet, alert, silence != nullptr, now);
  if (!impl.outlets.empty() && (alert.kind == Kind::blind || alert.kind == Kind::sighted))
    impl.mark(kBlindMark, key(alert), alert.kind == Kind::blind ? "blind" : "", now);
  return impl.write(incident);
}

void Alerter::Impl::route(Outlet& outlet, const Alert& alert, bool silenced, TimeMs now) {
  const SinkOptions& sink = outlet.sender->sink();
  if (!takes(sink, alert)) return;
  // Where an alert stands open until its end is told, it may be one of before the silence.
  if (silenced && !(ends_always(sink.kind) && is_over(alert))) return;
  if (!outlet.storm) return queue(sink, alert, now, now);
  const Storm::Decision decision = outlet.storm->decide(alert, now);
  if (decision.alone) queue(sink, alert, now, now);
  if (!decision.alone) ++counts.grouped;
  if (decision.instead) queue(sink, *decision.instead, decision.due, now);
  if (!decision.key.empty())
    mark(sink.name + kStormMark, decision.key, outlet.storm->saved(decision.key), now);
}

void Alerter::Impl::queue(const SinkOptions& sink, const Alert& alert, TimeMs due, TimeMs now) {
  store::Alert row{0, sink.name, key(alert), body(sink.kind, alert, options.source), now, due, 0};
  row.lasts = is_told_again(sink.kind) && !is_over(alert) && alert.kind != Kind::name_twice;
  row.replaces = is_told_again(sink.kind) || alert.kind == Kind::storm;
  rows.push_back(std::move(row));
}

/// An empty content takes it away.
void Alerter::Impl::mark(const std::string& sink, const std::string& key, std::string content,
                         TimeMs now) {
  if (content.empty()) {
    gone.emplace_back(sink, key);
    return;
  }
  store::Alert row{0, sink, key, std::move(content), now, now, 0};
  row.replaces = true;
  rows.push_back(std::move(row));
}

Result<void> Alerter::Impl::write(const store::Incident* incident) {
  const bool nothing = rows.empty() && incident == nullptr;
  const Result<void> stored = nothing ? Result<void>() : database.enqueue(rows, incident);
  for (const auto& [sink, key] : gone) static_cast<void>(database.withdraw(sink, key));
  for (const Outlet& outlet : outlets)
    for (store::Alert& row : rows) {
      if (row.sink != outlet.sender->sink().name) continue;
      stored ? outlet.sender->wake() : outlet.sender->keep(std::move(row.content));
    }
  rows.clear();
  gone.clear();
  return stored;
}

AlerterStats Alerter::stats() const {
  const std::lock_guard lock(impl_->mutex);
  AlerterStats counts = impl_->counts;
  for (const Outlet& outlet : impl_->outlets) {
    const SinkStats sink = outlet.sender->stats();
    counts.posted += sink.posted;
    counts.failures += sink.failures;
    counts.dropped += sink.dropped;
    counts.waiting += sink.in_memory;
    counts.sinks.push_back(sink);
  }
  return counts;
}

}  // namespace l4::alert
