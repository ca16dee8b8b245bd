#include "aggregator/alert/alerter.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace l4::alert {
namespace {

constexpr auto kSink = "webhook";
constexpr std::size_t kDueAtOnce = 16;
constexpr Millis kLookEvery{1'000};  ///< what waits in the database and is not due yet

}  // namespace

struct Alerter::Impl {
  Impl(AlerterOptions limits, store::Database& stored, Hooks given)
      : options(std::move(limits)), database(stored), hooks(std::move(given)) {}

  void run(const std::stop_token& stop);
  bool post(const std::string& content);
  void post_due(const std::stop_token& stop);
  void post_waiting(const std::stop_token& stop);
  Millis pause(std::int64_t tries) const;

  AlerterOptions options;
  store::Database& database;
  Hooks hooks;
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<std::string> waiting;  ///< what the database did not take
  bool fresh = true, more = true;   ///< something may be due; something waits in the database
  bool in_trouble = false;          ///< of the thread
  AlerterStats counts;
  std::jthread thread;
};

Alerter::Alerter(AlerterOptions options, store::Database& database, Hooks hooks)
    : impl_(std::make_unique<Impl>(std::move(options), database, std::move(hooks))) {
  if (!impl_->options.webhook.empty())
    impl_->thread = std::jthread([this](const std::stop_token& stop) { impl_->run(stop); });
}

Alerter::~Alerter() = default;

void Alerter::send(const Alert& alert) {
  Impl& impl = *impl_;
  impl.hooks.log(to_line(alert));
  std::string content;
  bool stored = false;
  if (!impl.options.webhook.empty()) {
    content = to_json(alert, impl.options.source);
    const TimeMs now = impl.hooks.now();
    stored = impl.database.enqueue({0, kSink, alert.incident, content, now, now, 0}).has_value();
  }
  const std::lock_guard lock(impl.mutex);
  ++impl.counts.alerts;
  if (content.empty()) return;
  if (!stored) {
    if (impl.waiting.size() >= impl.options.waiting_max) {
      impl.waiting.pop_front();
      ++impl.counts.dropped;
    }
    impl.waiting.push_back(std::move(content));
  }
  impl.fresh = impl.more = true;
  impl.changed.notify_all();
}

AlerterStats Alerter::stats() const {
  const std::lock_guard lock(impl_->mutex);
  AlerterStats counts = impl_->counts;
  counts.waiting = impl_->waiting.size();
  return counts;
}

void Alerter::Impl::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    post_waiting(stop);
    post_due(stop);
    std::unique_lock lock(mutex);
    if (more || !waiting.empty())
      changed.wait_for(lock, stop, kLookEvery, [&] { return fresh; });
    else
      changed.wait(lock, stop, [&] { return fresh; });
    fresh = false;
  }
}

/// True if it has arrived. Trouble and its end are said once each.
bool Alerter::Impl::post(const std::string& content) {
  const auto status = hooks.post(options.webhook, content);
  const bool arrived = status && *status >= 200 && *status < 300;
  {
    const std::lock_guard lock(mutex);
    ++(arrived ? counts.posted : counts.failures);
  }
  if (!arrived && !in_trouble)
    hooks.log(fmt::format("webhook {}: {}; tried again until it works", options.webhook,
                          status ? fmt::format("answered {}", *status) : status.error().text()));
  if (arrived && in_trouble) hooks.log(fmt::format("webhook {}: works again", options.webhook));
  in_trouble = !arrived;
  return arrived;
}

void Alerter::Impl::post_waiting(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::string content;
    {
      const std::lock_guard lock(mutex);
      if (waiting.empty()) return;
      content = waiting.front();
    }
    if (!post(content)) return;
    const std::lock_guard lock(mutex);
    if (!waiting.empty() && waiting.front() == content) waiting.pop_front();
  }
}

void Alerter::Impl::post_due(const std::stop_token& stop) {
  for (bool again = true; again && !stop.stop_requested();) {
    const TimeMs now = hooks.now();
    const auto due = database.due(now, kDueAtOnce);
    again = due && due->size() == kDueAtOnce;
    for (const store::Alert& alert : due.value_or(std::vector<store::Alert>{})) {
      if (stop.stop_requested()) return;
      if (post(alert.content)) {
        static_cast<void>(database.sent(alert.id));
        continue;
      }
      static_cast<void>(database.failed(alert.id, hooks.now() + pause(alert.tries)));
      again = false;
      break;  // the others would fail alike
    }
    const std::lock_guard lock(mutex);
    more = in_trouble || again || !due;
  }
}

Millis Alerter::Impl::pause(std::int64_t tries) const {
  constexpr std::int64_t kDoublings = 20;
  const auto factor = std::int64_t{1} << std::min(tries, kDoublings);
  return std::min(options.retry_most, Millis{options.retry_first.count() * factor});
}

}  // namespace l4::alert
