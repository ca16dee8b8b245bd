#include "aggregator/alert/sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <random>
#include <utility>

#include "aggregator/alert/sink_kind.h"
#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/base/thread.h"

namespace l4::alert {
namespace {

constexpr std::size_t kDueAtOnce = 16, kInOneRequest = 64;
constexpr std::int64_t kTriesInOrder = 8;  ///< an alert with more no longer holds up later ones
constexpr Millis kTrimEvery{60'000};
constexpr Millis kStoredFor = std::chrono::days(7);

bool is_taken(unsigned status) {
  return status >= 200 && status < 300;
}

std::string why_not(const Result<unsigned>& status) {
  return status ? fmt::format("answered {}", *status) : status.error().text();
}

}  // namespace

struct Sender::Impl {
  struct Target {
    SinkOptions sink;
    SenderOptions options;
    bool operator==(const Target&) const = default;
  };

  Impl(Target given, store::Database& stored, Hooks outside)
      : database(stored),
        hooks(std::move(outside)),
        random(static_cast<std::minstd_rand::result_type>(
            given.options.seed ^ std::hash<std::string>{}(given.sink.name))),
        to(std::make_shared<const Target>(std::move(given))),
        next(to) {
    counts.sink = to->sink.name;
    counts.kind = to->sink.kind->name;
  }

  void run(const std::stop_token& stop);
  void adopt();
  void send_waiting(const std::stop_token& stop);
  void send_due(const std::stop_token& stop);
  bool send_rows(const std::vector<store::Alert>& rows, const std::stop_token& stop);
  bool send(const std::vector<store::Alert>& rows, bool in_memory, const std::stop_token& stop);
  Result<unsigned> deliver(const std::vector<std::string>& contents, const std::stop_token& stop);
  void note(const std::vector<store::Alert>& rows, bool in_memory, const std::string& trouble);
  void note_try(std::string trouble, TimeMs now);
  void run_test(const std::stop_token& stop);
  void trim(TimeMs now);
  Millis pause();
  /// True for the rows of one incident: its newest row replaces them.
  static auto is_of(const std::string& key) {
    return [key](const store::Alert& row) { return row.incident == key; };
  }

  store::Database& database;
  const Hooks hooks;
  // Only the sender's own thread uses this.
  std::minstd_rand random;
  std::shared_ptr<const Target> to;
  std::int64_t failed_in_a_row = 0;
  bool in_trouble = false;
  bool answered = false;  ///< the last failure was an answer
  TimeMs rests_until = TimeMs::min(), trimmed = TimeMs::min();
  std::size_t in_one_request = 1;
  struct Test {
    std::vector<std::string> bodies;
    std::function<void(Result<void>, Millis)> then;
  };

  mutable Mutex mutex;
  CondVar changed;
  std::shared_ptr<const Target> next L4_GUARDED_BY(mutex);
  /// Rows that the database refused; they have ids of their own.
  std::deque<store::Alert> waiting L4_GUARDED_BY(mutex);
  std::int64_t kept L4_GUARDED_BY(mutex) = 0;
  bool fresh L4_GUARDED_BY(mutex) = true;
  std::optional<Test> asked L4_GUARDED_BY(mutex);
  SinkStats counts L4_GUARDED_BY(mutex);
  DeliveryLog told L4_GUARDED_BY(mutex);
  std::jthread thread;
};

Sender::Sender(SinkOptions sink, SenderOptions options, store::Database& database, Hooks hooks)
    : impl_(std::make_unique<Impl>(Impl::Target{std::move(sink), options}, database,
                                   std::move(hooks))) {
  impl_->thread = start_thread(
      "alert-sender", [impl = impl_.get()](const std::stop_token& stop) { impl->run(stop); });
}

Sender::~Sender() = default;

void Sender::set(SinkOptions sink, SenderOptions options) {
  auto made = std::make_shared<const Impl::Target>(Impl::Target{std::move(sink), options});
  const MutexLock lock(impl_->mutex);
  if (*impl_->next == *made) return;
  impl_->next = std::move(made);
  impl_->fresh = true;
  impl_->changed.notify_all();
}

void Sender::stored(const store::Alert& row) {
  const MutexLock lock(impl_->mutex);
  if (row.replaces) std::erase_if(impl_->waiting, impl_->is_of(row.incident));
  impl_->fresh = true;
  impl_->changed.notify_all();
}

void Sender::test(std::vector<std::string> bodies, std::function<void(Result<void>, Millis)> then) {
  const MutexLock lock(impl_->mutex);
  impl_->asked = Impl::Test{std::move(bodies), std::move(then)};
  impl_->fresh = true;
  impl_->changed.notify_all();
}

void Sender::keep(store::Alert row) {
  const MutexLock lock(impl_->mutex);
  if (row.replaces) std::erase_if(impl_->waiting, impl_->is_of(row.incident));
  if (impl_->waiting.size() >= impl_->next->options.waiting_max) {
    impl_->told.note_lost(impl_->waiting.front(), impl_->hooks.now());
    impl_->waiting.pop_front();
    ++impl_->counts.dropped;
  }
  row.id = ++impl_->kept;
  impl_->waiting.push_back(std::move(row));
  impl_->fresh = true;
  impl_->changed.notify_all();
}

void Sender::stop() {
  impl_->thread.request_stop();
}

SinkStats Sender::stats() const {
  const MutexLock lock(impl_->mutex);
  SinkStats counts = impl_->counts;
  counts.in_memory = static_cast<std::uint64_t>(std::ranges::count_if(
      impl_->waiting, [now = impl_->hooks.now()](const auto& row) { return row.due <= now; }));
  counts.waiting += counts.in_memory;
  return counts;
}

std::vector<Delivery> Sender::deliveries() const {
  const TimeMs now = impl_->hooks.now();
  std::string sink;
  {
    const MutexLock lock(impl_->mutex);
    sink = impl_->counts.sink;
  }
  const auto stored = impl_->database.untaken(sink, now, kWaitingShown);
  const MutexLock lock(impl_->mutex);
  std::vector<store::Alert> in_memory;
  in_memory.reserve(std::min(impl_->waiting.size(), kWaitingShown));
  for (const store::Alert& row : impl_->waiting)
    if (in_memory.size() < kWaitingShown && (!row.lasts || row.tries > 0 || row.due <= now))
      in_memory.push_back(row);
  return impl_->told.joined(stored.value_or(std::vector<store::Alert>{}), in_memory);
}

void Sender::Impl::run(const std::stop_token& stop) {
  if (to->sink.kind->repeats) in_one_request = kInOneRequest;
  while (!stop.stop_requested()) {
    adopt();
    run_test(stop);
    if (hooks.now() >= rests_until) {
      send_waiting(stop);
      send_due(stop);
    }
    trim(hooks.now());
    MutexLock lock(mutex);
    changed.wait_for(lock, stop, to->options.poll_every,
                     [this]() L4_REQUIRES(mutex) { return fresh; });
    fresh = false;
  }
}

/// Applies what set() has set; failures of the former target say nothing about the new one.
void Sender::Impl::adopt() {
  {
    const MutexLock lock(mutex);
    if (to == next) return;
    to = next;
  }
  failed_in_a_row = 0;
  rests_until = TimeMs::min();
  // A failure only means that these alerts are sent a little later.
  static_cast<void>(database.retry_now(to->sink.name, hooks.now()));
}

/// Delivers the bodies of a test, if one was asked for.
void Sender::Impl::run_test(const std::stop_token& stop) {
  std::optional<Test> test;
  {
    const MutexLock lock(mutex);
    test.swap(asked);
  }
  if (!test) return;
  const TimeMs begun = hooks.now();
  Result<void> result;
  for (const std::string& body : test->bodies) {
    const auto status = deliver({body}, stop);
    if (status && is_taken(*status)) continue;
    result = std::unexpected(Error{"", why_not(status)});
    break;
  }
  const TimeMs now = hooks.now();
  note_try(result ? std::string() : result.error().text(), now);
  if (result && failed_in_a_row > 0) {
    failed_in_a_row = 0;
    rests_until = now;
    static_cast<void>(database.retry_now(to->sink.name, now));
  }
  test->then(result, now - begun);
}

/// Drops rows that are too many or too old, and counts the waiting ones.
void Sender::Impl::trim(TimeMs now) {
  std::uint64_t gone = 0;
  if (trimmed == TimeMs::min() || now - trimmed >= kTrimEvery) {
    gone = database.trim(to->sink.name, to->options.stored_max, now - kStoredFor).value_or(0);
    trimmed = now;
  }
  const std::uint64_t due = database.waiting(to->sink.name, now).value_or(0);
  const MutexLock lock(mutex);
  counts.dropped += gone;
  counts.waiting = due;
}

void Sender::Impl::send_waiting(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    store::Alert row;
    const TimeMs now = hooks.now();
    {
      const MutexLock lock(mutex);
      const auto due =
          std::ranges::find_if(waiting, [&](const auto& one) { return one.due <= now; });
      if (due == waiting.end()) return;
      row = *due;
    }
    if (!send({row}, true, stop)) return;
    const MutexLock lock(mutex);
    const auto at = std::ranges::find(waiting, row.id, &store::Alert::id);
    if (at == waiting.end()) continue;
    if (row.lasts && row.created + to->options.again_for > now)
      at->due = now + to->options.again_every;
    else
      waiting.erase(at);
  }
}

void Sender::Impl::send_due(const std::stop_token& stop) {
  for (bool again = true; again && !stop.stop_requested() && hooks.now() >= rests_until;) {
    adopt();
    run_test(stop);
    const TimeMs now = hooks.now();
    auto due = database.due(to->sink.name, now, std::max(kDueAtOnce, in_one_request));
    if (!due || due->empty()) return;
    std::erase_if(*due, [&](const store::Alert& row) {
      const bool old = row.lasts && row.created + to->options.again_for <= now;
      if (old) static_cast<void>(database.sent(row.id));
      return old;
    });
    for (std::size_t at = 0; again && at < due->size() && !stop.stop_requested();) {
      const std::size_t end = std::min(at + in_one_request, due->size());
      again = send_rows({due->begin() + static_cast<std::ptrdiff_t>(at),
                         due->begin() + static_cast<std::ptrdiff_t>(end)},
                        stop);
      at = end;
    }
  }
}

/// Sends the rows in one request; false if nothing more is to be sent now.
bool Sender::Impl::send_rows(const std::vector<store::Alert>& rows, const std::stop_token& stop) {
  if (send(rows, false, stop)) {
    bool stored = true;
    for (const store::Alert& row : rows)
      stored = (row.lasts ? database.sent(row.id, hooks.now() + to->options.again_every)
                          : database.sent(row.id))
                   .has_value() &&
               stored;
    return stored;  // otherwise the same row would be due again at once
  }
  if (stop.stop_requested()) return false;
  const bool refused = answered && rows.size() == 1 && rows[0].tries + 1 >= kTriesInOrder;
  if (refused) {  // the refused row waits by itself, and the other rows go on
    static_cast<void>(database.failed(rows[0].id, hooks.now() + to->options.retry_most));
    rests_until = hooks.now();
    failed_in_a_row = 0;
    return true;
  }
  if (answered) in_one_request = 1;  // one of the rows may be the reason
  for (const store::Alert& row : rows)
    static_cast<void>(database.failed(row.id, std::max(row.due, rests_until)));
  return false;
}

/// True if the request has arrived; otherwise the sink rests.
bool Sender::Impl::send(const std::vector<store::Alert>& rows, bool in_memory,
                        const std::stop_token& stop) {
  std::vector<std::string> contents;
  contents.reserve(rows.size());
  for (const store::Alert& row : rows) contents.push_back(row.content);
  const auto status = deliver(contents, stop);
  const bool arrived = status && is_taken(*status);
  if (!arrived && stop.stop_requested()) return false;  // the stop interrupted it
  note(rows, in_memory, arrived ? std::string() : why_not(status));
  if (arrived) {
    failed_in_a_row = 0;
    if (to->sink.kind->repeats) in_one_request = kInOneRequest;
    return true;
  }
  answered = status.has_value();
  rests_until = hooks.now() + pause();
  ++failed_in_a_row;
  return false;
}

Result<unsigned> Sender::Impl::deliver(const std::vector<std::string>& contents,
                                       const std::stop_token& stop) {
  const SinkOptions& sink = to->sink;
  L4_CHECK(contents.size() == 1 || sink.kind->repeats, "{} alerts in one request to {}",
           contents.size(), sink.name);
  const Request request = make_request(sink, contents);
  if (sink.kind->deliver != nullptr) return sink.kind->deliver(sink, request, stop);
  return hooks.post(request);
}

/// Logs the first failure and the first success after it.
void Sender::Impl::note(const std::vector<store::Alert>& rows, bool in_memory,
                        const std::string& trouble) {
  const bool arrived = trouble.empty();
  const TimeMs now = hooks.now();
  {
    const MutexLock lock(mutex);
    ++(arrived ? counts.posted : counts.failures);
    for (const store::Alert& row : rows) told.note(row, in_memory, trouble, now);
  }
  note_try(trouble, now);
  if (!arrived && !in_trouble)
    hooks.log(fmt::format("{}: {}; tried again until it works", log_name(to->sink), trouble));
  if (arrived && in_trouble) hooks.log(fmt::format("{}: works again", log_name(to->sink)));
  in_trouble = !arrived;
}

void Sender::Impl::note_try(std::string trouble, TimeMs now) {
  const MutexLock lock(mutex);
  counts.trouble = std::move(trouble);
  counts.tried = now;
}

/// Doubles with each failure, and draws from the upper half so that many sinks do not retry at
/// once.
Millis Sender::Impl::pause() {
  constexpr std::int64_t kDoublings = 20;
  const auto factor = std::int64_t{1} << std::min(failed_in_a_row, kDoublings);
  const std::int64_t most =
      std::min(to->options.retry_most.count(), to->options.retry_first.count() * factor);
  return Millis{std::uniform_int_distribution<std::int64_t>(most - most / 2, most)(random)};
}

}  // namespace l4::alert
