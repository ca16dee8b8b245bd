#include "aggregator/live/aggregator_impl.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "aggregator/faults/library.h"
#include "aggregator/live/gather.h"
#include "aggregator/past/note.h"
#include "aggregator/rows/answers.h"
#include "aggregator/store/schema.h"
#include "common/base/check.h"
#include "common/base/thread.h"
#include "common/wire/codec/batch_codec.h"

namespace l4::live {

/// Restores the saved state; no other thread runs yet.
class Aggregator::Recovery final : public store::Recoverer {
 public:
  explicit Recovery(Impl& impl) : impl_(impl) {}

  void offsets(std::span<const std::byte> saved) override {
    if (const auto position = intake::StoreLedger::load_offsets(saved, table_))
      last_ = *position;
    else
      impl_.outside.warn(
          "the saved offsets are of no use; files are read again from the journal on");
  }
  bool job(const std::string& id, std::span<const std::byte> saved) override {
    if (impl_.shard_of(id).restore(id, saved)) return true;
    impl_.outside.warn(fmt::format(
        "job {}: what was saved is of another version; it goes on with what the journal holds",
        id));
    return false;
  }
  void record(const store::Record& record, bool new_to_job, bool new_to_offsets) override {
    auto batch = wire::decode(record.batch);
    if (!batch) {
      ++unreadable_;
      return;
    }
    if (new_to_offsets) {
      table_.commit(*batch, record.time);
      last_ = record.seq;
    }
    ++batches_;
    if (new_to_job) impl_.shard_of(batch->job).replay(record.seq, std::move(*batch), record.time);
  }

  store::OffsetTable table_;
  store::Seq last_;
  std::uint64_t batches_ = 0, unreadable_ = 0;

 private:
  Impl& impl_;
};

namespace {

/// Alerts of the incidents that are open in the database.
std::vector<alert::Alert> standing_alerts(store::Database& database,
                                          const std::function<void(const std::string&)>& warn) {
  store::IncidentQuery query;
  query.open_only = true;
  query.count = alert::Alerter::kOpenMax;
  const auto rows = database.incidents(query);
  if (!rows) warn("which incidents are open is not known: " + rows.error().text());
  std::vector<alert::Alert> alerts;
  for (const store::Incident& row : rows.value_or(std::vector<store::Incident>{}))
    if (auto alert = scoring::standing_alert(row)) alerts.push_back(std::move(*alert));
  return alerts;
}

}  // namespace

scoring::Services Aggregator::Impl::services() {
  return {*store,
          *pool,
          [this] { return faults->library(); },
          [this](const alert::Alert& alert, const store::Incident* incident) {
            return send(alert, incident);
          },
          outside.say,
          outside.warn,
          outside.now,
          totals,
          [this](const scoring::JobRow& row, bool gone) {
            serve::JsonWriter text;
            rows::write(text, row, rows::notes_of(alerter->quiet(), row, outside.now().wall));
            board.publish(gone ? "job_gone" : "job", row.id, text.release());
          }};
}

Result<void> Aggregator::Impl::send(const alert::Alert& alert, const store::Incident* incident) {
  auto stored = alerter->send(alert, incident);
  const char* const type = alert.job.empty()       ? "fleet"
                           : !alert.notice.empty() ? "notice"
                                                   : "incident";
  board.publish(type, alert.job, alert::to_json(alert, alerter->origin()));
  return stored;
}

/// Checks the health, about once a second, on another thread than those that it checks.
void Aggregator::Impl::keep_watch() {
  constexpr Millis kWatchEvery{1'000};
  const wire::Instant now = outside.now();
  if (now.steady - watched < kWatchEvery) return;
  watched = now.steady;
  alerter->poll();
  if (const auto alert = health_watch.step(health(), now)) static_cast<void>(send(*alert, nullptr));
}

void Aggregator::Impl::watch(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kLookEvery{250};
  Mutex mutex;
  CondVar never_notified;
  MutexLock lock(mutex);
  while (!stop.stop_requested()) {
    keep_watch();
    never_notified.wait_for(lock, stop, kLookEvery);
  }
}

store::StoreEvents Aggregator::Impl::events() {
  store::StoreEvents events;
  events.durable = [this](store::Seq) {
    if (intake::Intake* intake_now = hears) intake_now->wake();
  };
  events.accepting = [this](bool does) {
    accepting = does;
    if (intake::Intake* intake_now = hears) intake_now->wake();
  };
  events.say = outside.say;
  events.warn = outside.warn;
  return events;
}

std::unique_ptr<confirm::FaultBook> Aggregator::Impl::make_fault_book() {
  confirm::FaultBook::Hooks hooks{outside.say, outside.warn,
                                  [now = outside.now] { return now().wall; }};
  hooks.ask_normal = [this](scoring::NormalQuestion question,
                            std::function<void(scoring::NormalLines)> then) {
    auto gather = std::make_shared<Gather<scoring::NormalLines>>(
        shards.size(), [then = std::move(then), of_pool = scoring::scan(pool->rows(), question)](
                           std::vector<scoring::NormalLines> parts) {
          scoring::NormalLines all;
          for (scoring::NormalLines& part : parts) all.add(std::move(part));
          all.add(of_pool);
          then(std::move(all));
        });
    const auto shared = std::make_shared<const scoring::NormalQuestion>(std::move(question));
    return std::ranges::all_of(shards, [&](const auto& shard) {
      return shard->call(
          [gather, shared](scoring::Shard& asked) { gather->answer(asked.normal_lines(*shared)); });
    });
  };
  hooks.published = [this] {
    for (const auto& shard : shards)
      shard->call([](scoring::Shard& told) { told.schedule_diagnoses(); });
  };
  const store::Path folder =
      options.confirmed_faults.empty() ? options.store.folder / "faults" : options.confirmed_faults;
  return std::make_unique<confirm::FaultBook>(outside.library, folder, outside.files,
                                              store->database(), std::move(hooks));
}

/// Restores the state and returns the number of jobs. A note in the journal records the start for
/// reports of the past.
std::size_t Aggregator::Impl::restored() {
  const TimeMs now = outside.now().wall;
  std::size_t jobs = 0;
  L4_CHECK(shards.size() == options.shards.shards, "{} of {} shards were made", shards.size(),
           options.shards.shards);
  for (const auto& shard : shards) jobs += shard->stats().jobs;
  store::Seq seq;
  if (jobs > 0) seq = store->note(past::encode({{}, now}).bytes(), now).value_or(store::Seq{});
  for (const auto& shard : shards) shard->restored(now, seq);
  return jobs;
}

Result<void> Aggregator::Impl::open_collector() {
  if (options.flows.listen.empty()) return {};
  std::vector<scoring::Shard*> all;
  all.reserve(shards.size());
  for (const auto& shard : shards) all.push_back(shard.get());
  networks = std::make_unique<NetworkDesk>(std::move(all), options.shards.job.thresholds.incidents,
                                           services());
  collect::FlowCollector::Hooks hooks;
  hooks.now = [now = outside.now] { return now().wall; };
  hooks.steady = [now = outside.now] { return now().steady; };
  hooks.say = outside.say;
  hooks.warn = outside.warn;
  hooks.looked = [this](const collect::FlowCollector& own) { networks->look(own.networks()); };
  auto opened = collect::FlowCollector::open(options.flows, std::move(hooks));
  if (!opened) return std::unexpected(opened.error());
  collector = std::move(*opened);
  networks->close_left();
  return {};
}

Result<std::unique_ptr<Aggregator>> Aggregator::recover(Options options,
                                                        Surroundings surroundings) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(surroundings));
  const auto now = impl->outside.now;
  impl->started = now().wall;
  auto store = store::Store::open(
      impl->options.store, impl->events(), [now] { return now().wall; }, impl->outside.files);
  if (!store) return std::unexpected(store.error());
  impl->store = std::move(*store);
  // A damaged database is replaced, and one that cannot be written is tried again; that of another
  // version would stay unused for as long as the aggregator runs.
  if (const auto ready = impl->store->database().ready();
      !ready && store::is_of_other_version(ready.error()))
    return std::unexpected(
        Error{(impl->options.store.folder / "state.db").string(), ready.error().reason});
  impl->alerter = std::make_unique<alert::Alerter>(
      impl->options.alerts, impl->store->database(),
      alert::Alerter::Hooks{impl->outside.post, impl->outside.warn, [now] { return now().wall; }},
      standing_alerts(impl->store->database(), impl->outside.warn));
  impl->faults = impl->make_fault_book();
  impl->pool = std::make_unique<pool::PoolBook>(
      impl->options.pool, impl->store->database(),
      pool::PoolBook::Hooks{impl->outside.say, impl->outside.warn, [now] { return now().wall; }});
  const std::size_t count = std::max<std::size_t>(impl->options.shards.shards, 1);
  impl->options.shards.shards = count;
  impl->past =
      std::make_unique<past::PastDesk>(impl->options.past, impl->options.shards.job,
                                       impl->options.shards.closes_after, impl->services());
  for (std::size_t i = 0; i < count; ++i)
    impl->shards.push_back(
        std::make_unique<scoring::Shard>(impl->options.shards, impl->services()));
  Recovery recovery(*impl);
  impl->store->recover(recovery);
  const std::size_t jobs = impl->restored();
  if (jobs > 0 || recovery.batches_ > 0)
    impl->outside.say(
        fmt::format("{} jobs are back, {} batches from the journal", jobs, recovery.batches_));
  if (recovery.unreadable_ > 0)
    impl->outside.warn(
        fmt::format("{} batches of the journal cannot be read", recovery.unreadable_));
  Impl* const raw = impl.get();
  impl->ledger = std::make_unique<intake::StoreLedger>(
      *impl->store, std::move(recovery.table_), recovery.last_,
      [raw](store::Seq seq, wire::Batch batch, TimeMs arrival, std::size_t bytes) {
        scoring::Shard& shard = raw->shard_of(batch.job);
        shard.deliver(seq, std::move(batch), arrival, bytes);
      },
      [now] { return now().wall; }, impl->accepting);
  std::vector<scoring::Shard*> shards;
  for (const auto& shard : impl->shards) shards.push_back(shard.get());
  impl->intake = std::make_unique<intake::Intake>(
      impl->options.server, impl->outside.port, *impl->ledger, std::move(shards), impl->services(),
      impl->options.shards.checkpoint_every, impl->outside.port_notice, impl->options.lines);
  impl->hears = impl->intake.get();
  if (const auto opened = impl->open_collector(); !opened) return std::unexpected(opened.error());
  return std::unique_ptr<Aggregator>(new Aggregator(std::move(impl)));
}

Aggregator::Aggregator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Aggregator::~Aggregator() {
  stop();
  impl_->alerter.reset();  // ends before the database that it reads
  impl_->store.reset();    // its threads ring the intake until here
}

void Aggregator::start() {
  Impl& impl = *impl_;
  for (std::size_t i = 0; i < impl.shards.size(); ++i)
    impl.threads.push_back(start_thread(fmt::format("l4-shard-{}", i), [&shard = *impl.shards[i]] {
      shard.run();
      shard.save_all();
    }));
  impl.threads.push_back(start_thread("l4-intake", [&impl] { impl.intake->run(); }));
  if (impl.collector)
    impl.flows = start_thread("l4-flows",
                              [&impl](const std::stop_token& stop) { impl.collector->run(stop); });
  impl.watcher =
      start_thread("l4-watch", [&impl](const std::stop_token& stop) { impl.watch(stop); });
}

void Aggregator::stop() {
  Impl& impl = *impl_;
  impl.faults->stop();
  impl.past->stop();
  if (std::exchange(impl.stopped, true) || impl.threads.empty()) return;
  impl.flows = {};
  impl.watcher = {};  // a thread that stops must not be called stalled
  impl.intake->stop();
  impl.threads.back().join();
  for (const auto& shard : impl.shards) shard->close();
  impl.threads.clear();
  impl.ledger->checkpoint(impl.outside.now().wall);
  impl.store->drain();
}

void Aggregator::step_all(bool patient) {
  if (patient) impl_->ledger->be_patient();
  impl_->intake->step(Millis{0});
  for (const auto& shard : impl_->shards) shard->step(Millis{0});
  if (impl_->collector) impl_->collector->step(Millis{0});
  impl_->keep_watch();
  if (patient) impl_->store->drain();
}

}  // namespace l4::live
