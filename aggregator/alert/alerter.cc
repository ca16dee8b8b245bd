#include "aggregator/alert/alerter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "aggregator/alert/alerter_impl.h"
#include "aggregator/serve/utf8.h"

namespace l4::alert {
namespace {

/// What the alert says, in one line to be kept with its row.
std::string said(const Alert& alert) {
  constexpr std::size_t kWidth = 300;
  std::string text = alert.summary;
  if (alert.state != State::unknown)
    text = std::string(name(alert.state)) + (text.empty() ? "" : ": ") + text;
  return serve::cut(serve::harmless(text), kWidth);
}

/// The sink of `[alerts] webhook` comes first.
std::vector<SinkOptions> all_sinks(const AlerterOptions& options) {
  std::vector<SinkOptions> sinks;
  if (!options.webhook.empty()) {
    SinkOptions& sink = sinks.emplace_back();
    sink.name = kDefaultSink;
    sink.url = options.webhook;
    sink.ca = options.ca;
    sink.timeout = options.timeout;
    sink.groups = false;
  }
  sinks.insert(sinks.end(), options.sinks.begin(), options.sinks.end());
  return sinks;
}

KnownSinks known_of(const std::vector<SinkOptions>& sinks) {
  KnownSinks known;
  for (const SinkOptions& sink : sinks) known.emplace(sink.name, sink.kind->name);
  return known;
}

bool is_known(const KnownSinks& known, const SinkOptions& sink) {
  const auto at = known.find(sink.name);
  return at != known.end() && at->second == sink.kind->name;
}

}  // namespace

Alerter::Alerter(AlerterOptions options, store::Database& database, Hooks hooks,
                 const std::vector<Alert>& open)
    : impl_(std::make_unique<Impl>(std::move(options), database, std::move(hooks))) {
  Impl& impl = *impl_;
  std::vector<SinkOptions> sinks;
  {
    const MutexLock lock(impl.mutex);
    for (const Alert& alert : open) impl.note_open(alert, false, alert.at);
    impl.gone.clear();
    impl.restore_owed();
    sinks = all_sinks(impl.options);
  }
  // If the database has no list of earlier sinks, the sinks were the same.
  const KnownSinks before = impl.load_known().value_or(known_of(sinks)), wanted = known_of(sinks);
  for (const std::string& sink : database.sinks().value_or(std::vector<std::string>{}))
    if (const auto at = before.find(sink);
        !wanted.contains(sink) || (at != before.end() && at->second != wanted.at(sink)))
      impl.drop(sink, "alerts to " + sink, 0);
  {
    const MutexLock lock(impl.mutex);
    const TimeMs now = impl.hooks.now();
    std::vector<Outlet> made;
    for (const SinkOptions& sink : sinks) impl.install(sink, !is_known(before, sink), made, now);
    impl.outlets = std::move(made);
    impl.send_owed(now);
    impl.save_known(now);
    static_cast<void>(impl.write(nullptr));
  }
  if (sinks.empty()) return;
  const auto marks = database.due(kBlindMark, TimeMs::max(), kMarksMax);
  for (const store::Alert& mark : marks.value_or(std::vector<store::Alert>{})) {
    Alert over;
    over.kind = mark.incident == "degraded" ? Kind::well_again : Kind::sighted;
    over.at = impl.hooks.now();
    over.summary = fmt::format("the aggregator was started anew and says again if it is {}",
                               name(topic(over.kind)));
    static_cast<void>(send(over));
  }
}

/// Stops all senders at once: each may wait for an answer for some seconds.
Alerter::~Alerter() {
  const MutexLock lock(impl_->mutex);
  for (const Outlet& outlet : impl_->outlets) outlet.sender->stop();
}

/// Waits for removed senders without the lock, so that alerts go on meanwhile.
void Alerter::set(AlerterOptions options) {
  Impl& impl = *impl_;
  const std::vector<SinkOptions> sinks = all_sinks(options);
  std::vector<Outlet> leaving = impl.remove_outlets(known_of(sinks));
  for (const Outlet& outlet : leaving) outlet.sender->stop();  // all at once
  for (Outlet& outlet : leaving) {
    const std::uint64_t in_memory = outlet.sender->stats().in_memory;
    outlet.sender.reset();
    impl.drop(outlet.sink.name, log_name(outlet.sink), in_memory);
  }
  const MutexLock lock(impl.mutex);
  const TimeMs now = impl.hooks.now();
  impl.options = std::move(options);
  std::vector<Outlet> made;
  for (const SinkOptions& sink : sinks) impl.install(sink, true, made, now);
  impl.outlets = std::move(made);
  impl.send_owed(now);
  impl.save_known(now);
  static_cast<void>(impl.write(nullptr));
}

/// The sinks of the last run, if the database has a list of them.
std::optional<KnownSinks> Alerter::Impl::load_known() {
  const auto stored = database.due(kSinksMark, TimeMs::max(), 1);
  if (!stored || stored->empty()) return {};
  KnownSinks known;
  std::istringstream text(stored->front().content);
  for (std::string sink, kind; text >> sink >> kind;) known.emplace(sink, kind);
  return known;
}

void Alerter::Impl::save_known(TimeMs now) {
  std::string text;
  for (const Outlet& outlet : outlets)
    text += fmt::format("{} {}\n", outlet.sink.name, outlet.sink.kind->name);
  mark(kSinksMark, "all", text.empty() ? "\n" : text, now);
}

/// Removes and returns the outlets of unwanted sinks; no alert is queued for them from now on.
std::vector<Outlet> Alerter::Impl::remove_outlets(const KnownSinks& wanted) {
  const MutexLock lock(mutex);
  std::vector<Outlet> leaving;
  for (Outlet& outlet : outlets) {
    if (is_known(wanted, outlet.sink)) continue;
    const SinkStats stats = outlet.sender->stats();
    counts.posted += stats.posted;
    counts.failures += stats.failures;
    counts.dropped += stats.dropped;
    leaving.push_back(std::move(outlet));
  }
  std::erase_if(outlets, [](const Outlet& outlet) { return outlet.sender == nullptr; });
  return leaving;
}

void Alerter::Impl::drop(const std::string& sink, const std::string& log_name,
                         std::uint64_t in_memory) {
  const auto stored = database.drop_sink(sink);
  if (!stored) {
    hooks.log(fmt::format("{}: taken out; what waits for it stays in the database: {}", log_name,
                          stored.error().text()));
    return;
  }
  const std::uint64_t all = *stored + in_memory;
  hooks.log(
      fmt::format("{}: taken out; alerts that waited for it and are dropped: {}", log_name, all));
  const MutexLock lock(mutex);
  counts.dropped += all;
}

/// Moves the outlet of the sink from `outlets` to `made`, or makes a new one there.
void Alerter::Impl::install(const SinkOptions& sink, bool is_new, std::vector<Outlet>& made,
                            TimeMs now) {
  const auto at =
      std::ranges::find(outlets, sink.name, [](const Outlet& outlet) { return outlet.sink.name; });
  if (at != outlets.end()) {
    made.push_back(std::move(*at));
    outlets.erase(at);
    Outlet& outlet = made.back();
    const SinkOptions before = std::exchange(outlet.sink, sink);
    outlet.sender->set(sink, options.sender);
    if (outlet.storm) outlet.storm->set(options.storm);
    return send_open(outlet, &before, now);
  }
  Outlet& outlet = made.emplace_back();
  outlet.sink = sink;
  outlet.sender = std::make_unique<Sender>(sink, options.sender, database, hooks);
  if (sink.groups && !sink.kind->groups_itself)
    outlet.storm = std::make_unique<Storm>(options.storm);
  restore_storms(outlet);
  if (is_new) send_open(outlet, nullptr, now);
}

void Alerter::Impl::restore_storms(Outlet& outlet) {
  if (!outlet.storm) return;
  const auto marks = database.due(outlet.sink.name + kStormMark, TimeMs::max(), kMarksMax);
  for (const store::Alert& mark : marks.value_or(std::vector<store::Alert>{}))
    outlet.storm->restore(mark.incident, mark.content);
}

Result<void> Alerter::send(const Alert& alert, const store::Incident* incident) {
  Impl& impl = *impl_;
  const TimeMs now = impl.hooks.now();
  const MutexLock lock(impl.mutex);
  const Alert judged = impl.as_sent(alert);
  if (alert.kind == Kind::opened) static_cast<void>(impl.quiet.take_back(alert.incident));
  const std::optional<Hold> hold = impl.hold_of(judged, now);
  if (!impl.is_asked_for(judged)) {
    impl.note_open(alert, false, now);
    return {};
  }
  impl.hooks.log(hold ? hold->text + ": " + to_line(alert) : to_line(alert));
  impl.note_open(alert, hold.has_value(), now);
  ++impl.counts.alerts;
  if (hold) impl.count_hold(*hold, alert, now);
  for (Outlet& outlet : impl.outlets) impl.route(outlet, alert, judged, hold.has_value(), now);
  const Topic about = topic(alert.kind);
  if (!impl.outlets.empty() && (about == Topic::blind || about == Topic::degraded))
    impl.mark(kBlindMark, key(alert), is_over(alert) ? "" : key(alert), now);
  return impl.write(incident);
}

/// Notices are alerts only where a sink asks for them.
bool Alerter::Impl::is_asked_for(const Alert& alert) const {
  return topic(alert.kind) != Topic::notice ||
         std::ranges::any_of(outlets,
                             [&](const Outlet& outlet) { return accepts(outlet.sink, alert); });
}

/// The bodies that try a sink. Where an alert stays open until its end is sent, and nothing else
/// ends it, the end follows at once.
std::vector<std::string> Alerter::Impl::test_bodies(const SinkOptions& sink, const std::string& who,
                                                    TimeMs now) const {
  Alert alert;
  alert.kind = Kind::test;
  alert.at = now;
  alert.summary = fmt::format("This is a test of the sink {}, asked for by {}. Nothing has failed.",
                              sink.name, who);
  std::vector<std::string> bodies{sink.kind->body(alert, options.origin)};
  if (sink.kind->holds_open && !sink.kind->repeats) {
    alert.kind = Kind::test_over;
    bodies.push_back(sink.kind->body(alert, options.origin));
  }
  return bodies;
}

std::expected<void, TrialRefusal> Alerter::test(const std::string& sink, const std::string& who,
                                                TrialThen then) {
  Impl& impl = *impl_;
  const MutexLock lock(impl.mutex);
  const TimeMs now = impl.hooks.now();
  if (impl.trial && !impl.trial->expire(now))
    return std::unexpected(
        TrialRefusal{true, "the sinks are being tested; try again in some seconds"});
  std::vector<TrialRow> rows;
  std::vector<Outlet*> tried;
  std::string known;
  for (Outlet& outlet : impl.outlets) {
    known += (known.empty() ? "" : ", ") + outlet.sink.name;
    if (!sink.empty() && outlet.sink.name != sink) continue;
    tried.push_back(&outlet);
    rows.push_back({outlet.sink.name, std::string(outlet.sink.kind->name), false, "", Millis{0}});
  }
  if (tried.empty() && !sink.empty())
    return std::unexpected(TrialRefusal{
        false, fmt::format("there is no sink {}; {}", sink,
                           known.empty() ? "none is set in [alerts]" : "there are " + known)});
  if (tried.empty()) {
    then({});
    return {};
  }
  impl.trial = std::make_shared<Trial>(std::move(rows), now, std::move(then));
  for (std::size_t i = 0; i < tried.size(); ++i)
    tried[i]->sender->test(impl.test_bodies(tried[i]->sink, who, now),
                           [trial = impl.trial, i](const Result<void>& result, Millis lasted) {
                             trial->done(i, result, lasted);
                           });
  return {};
}

void Alerter::poll() {
  const MutexLock lock(impl_->mutex);
  const TimeMs now = impl_->hooks.now();
  if (impl_->trial && impl_->trial->expire(now)) impl_->trial.reset();
  impl_->send_owed(now);
  impl_->refresh(now);
  static_cast<void>(impl_->write(nullptr));
}

void Alerter::Impl::route(Outlet& outlet, const Alert& alert, const Alert& judged, bool silenced,
                          TimeMs now) {
  const SinkOptions& sink = outlet.sink;
  const bool alone = accepts(sink, judged);
  const bool together =
      outlet.storm && !alert.incident.empty() && accepts(sink, judged, Topic::storm);
  if (!alone && !together) return;
  // A sink that keeps alerts open may have got this alert before the silence began.
  if (silenced && !(sink.kind->holds_open && is_over(alert))) return;
  if (!outlet.storm) return queue(sink, alert, now, now);
  const Storm::Decision decision = outlet.storm->decide(alert, now);
  if (decision.alone && alone) queue(sink, alert, now, now);
  if (!decision.alone) ++counts.grouped;
  if (decision.instead) queue(sink, *decision.instead, decision.due, now);
  if (!decision.key.empty())
    mark(sink.name + kStormMark, decision.key, outlet.storm->saved(decision.key), now);
}

void Alerter::Impl::queue(const SinkOptions& sink, const Alert& alert, TimeMs due, TimeMs now) {
  store::Alert row{0, sink.name, key(alert), sink.kind->body(alert, options.origin), now, due, 0};
  row.lasts = sink.kind->repeats && !is_over(alert) && alert.kind != Kind::name_twice;
  row.replaces = sink.kind->repeats || alert.kind == Kind::storm;
  row.event = name(alert.kind);
  row.job = alert.job;
  row.line = said(alert);
  rows.push_back(std::move(row));
}

/// Sets a mark; an empty content removes it.
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
      if (row.sink != outlet.sink.name) continue;
      stored ? outlet.sender->stored(row) : outlet.sender->keep(std::move(row));
    }
  rows.clear();
  gone.clear();
  return stored;
}

Origin Alerter::origin() const {
  const MutexLock lock(impl_->mutex);
  return impl_->options.origin;
}

QuietBook& Alerter::quiet() {
  return impl_->quiet;
}

std::vector<Delivery> Alerter::deliveries() const {
  const MutexLock lock(impl_->mutex);
  std::vector<Delivery> all;
  for (const Outlet& outlet : impl_->outlets) {
    std::vector<Delivery> own = outlet.sender->deliveries();
    std::ranges::move(own, std::back_inserter(all));
  }
  return all;
}

AlerterStats Alerter::stats() const {
  const MutexLock lock(impl_->mutex);
  AlerterStats counts = impl_->counts;
  counts.quiet = impl_->quiet.counts(impl_->hooks.now());
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
