#include "aggregator/live/aggregator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "aggregator/faults/library.h"
#include "aggregator/live/gather.h"
#include "aggregator/live/intake.h"
#include "common/wire/codec.h"

namespace l4::live {
struct Aggregator::Impl {
  Impl(Options given, Surroundings around) : options(std::move(given)), outside(std::move(around)) {
    if (!outside.warn) outside.warn = outside.say;
  }

  Shard& shard_of(const std::string& job) {
    return *shards[std::hash<std::string>{}(job) % shards.size()];
  }
  Services services() {
    return {*store,
            *pool,
            [this] { return faults->library(); },
            [this](const alert::Alert& alert) { alerter->send(alert); },
            outside.say,
            outside.warn,
            outside.now};
  }
  std::unique_ptr<FaultBook> make_fault_book();
  store::StoreEvents events();
  void tell_lines(const LinesQuery& query, const std::expected<LinesResult, LinesProblem>& result);

  Options options;
  Surroundings outside;
  std::unique_ptr<store::Store> store;  // outlives all that uses it
  std::unique_ptr<alert::Alerter> alerter;
  std::unique_ptr<FaultBook> faults;  // outlives the shards, which answer it
  std::unique_ptr<PoolBook> pool;
  std::vector<std::unique_ptr<Shard>> shards;
  std::unique_ptr<StoreLedger> ledger;
  std::unique_ptr<Intake> intake;
  std::atomic<Intake*> hears{nullptr};  // what the store's threads may ring
  std::atomic<bool> accepting{true};
  std::mutex lines_mutex;
  LinesCounts lines;  // under it
  std::vector<std::jthread> threads;
  bool stopped = false;
};

/// Brings back what was; nothing else runs yet.
class Aggregator::Recovery final : public store::Recoverer {
 public:
  explicit Recovery(Impl& impl) : impl_(impl) {}

  void offsets(std::span<const std::byte> saved) override {
    if (const auto position = StoreLedger::load_offsets(saved, table_))
      last_ = *position;
    else
      impl_.outside.warn(
          "the saved offsets are of no use; files are read again from the journal on");
  }
  bool job(const std::string& id, std::span<const std::byte> saved) override {
    if (impl_.shard_of(id).restore(id, saved)) return true;
    impl_.outside.warn(fmt::format("job {}: what was saved is of another version", id));
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
    if (new_to_job) impl_.shard_of(batch->job).replay(record.seq, std::move(*batch), record.time);
  }

  store::OffsetTable table_;
  store::Seq last_;
  std::uint64_t unreadable_ = 0;

 private:
  Impl& impl_;
};

void Aggregator::Impl::tell_lines(const LinesQuery& query,
                                  const std::expected<LinesResult, LinesProblem>& result) {
  outside.say(audit_text(query, result));
  const std::lock_guard lock(lines_mutex);
  ++lines.questions;
  if (!result) {
    ++lines.refused;
    return;
  }
  lines.lines += result->lines.size();
  lines.bytes += result->text_bytes;
  lines.incomplete += result->missing.empty() ? 0 : 1;
}

store::StoreEvents Aggregator::Impl::events() {
  store::StoreEvents events;
  events.durable = [this](store::Seq) {
    if (Intake* intake_now = hears) intake_now->wake();
  };
  events.accepting = [this](bool does) {
    accepting = does;
    if (Intake* intake_now = hears) intake_now->wake();
  };
  events.say = outside.say;
  events.warn = outside.warn;
  return events;
}

std::unique_ptr<FaultBook> Aggregator::Impl::make_fault_book() {
  FaultBook::Hooks hooks{outside.say, outside.warn, [now = outside.now] { return now().wall; }};
  hooks.ask_normal = [this](NormalQuestion question, std::function<void(NormalLines)> then) {
    auto gather = std::make_shared<Gather<NormalLines>>(
        shards.size(), [then = std::move(then)](std::vector<NormalLines> parts) {
          NormalLines all;
          for (NormalLines& part : parts) all.add(std::move(part));
          then(std::move(all));
        });
    const auto shared = std::make_shared<const NormalQuestion>(std::move(question));
    return std::ranges::all_of(shards, [&](const auto& shard) {
      return shard->call(
          [gather, shared](Shard& asked) { gather->answer(asked.normal_lines(*shared)); });
    });
  };
  hooks.published = [this] {
    for (const auto& shard : shards) shard->call([](Shard& told) { told.look_again(); });
  };
  const store::Path folder =
      options.confirmed_faults.empty() ? options.store.folder / "faults" : options.confirmed_faults;
  return std::make_unique<FaultBook>(outside.library, folder, outside.files, store->database(),
                                     std::move(hooks));
}

Result<std::unique_ptr<Aggregator>> Aggregator::recover(Options options,
                                                        Surroundings surroundings) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(surroundings));
  const auto now = impl->outside.now;
  auto store = store::Store::open(
      impl->options.store, impl->events(), [now] { return now().wall; }, impl->outside.files);
  if (!store) return std::unexpected(store.error());
  impl->store = std::move(*store);
  impl->alerter = std::make_unique<alert::Alerter>(
      impl->options.alerts, impl->store->database(),
      alert::Alerter::Hooks{impl->outside.post, impl->outside.warn, [now] { return now().wall; }});
  impl->faults = impl->make_fault_book();
  impl->pool = std::make_unique<PoolBook>(
      impl->options.pool, impl->store->database(),
      PoolBook::Hooks{impl->outside.say, impl->outside.warn, [now] { return now().wall; }});
  const std::size_t count = std::max<std::size_t>(impl->options.shards.shards, 1);
  impl->options.shards.shards = count;
  for (std::size_t i = 0; i < count; ++i)
    impl->shards.push_back(std::make_unique<Shard>(impl->options.shards, impl->services()));
  Recovery recovery(*impl);
  const store::Replayed replayed = impl->store->recover(recovery);
  std::size_t jobs = 0;
  for (const auto& shard : impl->shards) {
    shard->restored();
    jobs += shard->stats().jobs;
  }
  if (jobs > 0 || replayed.records > 0)
    impl->outside.say(
        fmt::format("{} jobs are back, {} batches from the journal", jobs, replayed.records));
  if (recovery.unreadable_ > 0)
    impl->outside.warn(
        fmt::format("{} batches of the journal cannot be read", recovery.unreadable_));
  Impl* const raw = impl.get();
  impl->ledger = std::make_unique<StoreLedger>(
      *impl->store, std::move(recovery.table_), recovery.last_,
      [raw, now](store::Seq seq, wire::Batch batch, std::size_t bytes) {
        Shard& shard = raw->shard_of(batch.job);
        shard.deliver(seq, std::move(batch), now().wall, bytes);
      },
      [now] { return now().wall; }, impl->accepting);
  std::vector<Shard*> shards;
  for (const auto& shard : impl->shards) shards.push_back(shard.get());
  impl->intake = std::make_unique<Intake>(
      impl->options.server, impl->outside.port, *impl->ledger, std::move(shards), impl->services(),
      impl->options.shards.checkpoint_every, impl->outside.port_notice, impl->options.lines);
  impl->hears = impl->intake.get();
  return std::unique_ptr<Aggregator>(new Aggregator(std::move(impl)));
}

Aggregator::Aggregator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Aggregator::~Aggregator() {
  stop();
  impl_->alerter.reset();  // before the database it reads
  impl_->store.reset();    // its threads ring the intake until here
}

void Aggregator::start() {
  Impl& impl = *impl_;
  for (const auto& shard : impl.shards)
    impl.threads.emplace_back([&shard = *shard] {
      shard.run();
      shard.save_all();
    });
  impl.threads.emplace_back([&impl] { impl.intake->run(); });
}

void Aggregator::stop() {
  Impl& impl = *impl_;
  impl.faults->stop();
  if (std::exchange(impl.stopped, true) || impl.threads.empty()) return;
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
  if (patient) impl_->store->drain();
}

bool Aggregator::jobs(std::function<void(std::vector<JobRow>)> then) {
  using Rows = std::vector<JobRow>;
  auto gather = std::make_shared<Gather<Rows>>(impl_->shards.size(),
                                               [then = std::move(then)](std::vector<Rows> parts) {
                                                 Rows all;
                                                 for (Rows& part : parts)
                                                   std::ranges::move(part, std::back_inserter(all));
                                                 std::ranges::sort(all, {}, &JobRow::id);
                                                 then(std::move(all));
                                               });
  return std::ranges::all_of(impl_->shards, [&](const auto& shard) {
    return shard->call([gather](Shard& asked) { gather->answer(asked.rows()); });
  });
}

bool Aggregator::job(const std::string& id, bool anew,
                     std::function<void(const LiveJob*, const JobRow&)> then) {
  return impl_->shard_of(id).call([id, anew, then = std::move(then)](Shard& shard) {
    const LiveJob* job = anew ? shard.refresh(id) : shard.find(id);
    then(job, job != nullptr ? shard.row(*job) : JobRow{});
  });
}

bool Aggregator::agents(std::function<void(bool, std::vector<receive::AgentView>)> then) {
  return impl_->intake->call([then = std::move(then)](Intake& intake) {
    then(intake.is_blind(), intake.server().agents());
  });
}

bool Aggregator::lines(const LinesQuery& query, LinesThen then) {
  Impl* const impl = impl_.get();
  const LinesThen told = [impl, query, then = std::move(then)](auto result) {
    impl->tell_lines(query, result);
    then(std::move(result));
  };
  const auto plan = [impl, query, told](Shard& shard) {
    using Kind = LinesProblem::Kind;
    const LiveJob* job = shard.find(query.job);
    if (job == nullptr) return told(std::unexpected(LinesProblem{Kind::no_job}));
    LinesPlan whom = plan_lines(*job, query, impl->options.lines);
    if (whom.agents.empty()) return told(std::unexpected(LinesProblem{Kind::nothing}));
    const bool asked = impl->intake->call([told, whom = std::move(whom)](Intake& intake) mutable {
      if (!intake.ask(std::move(whom), told)) told(std::unexpected(LinesProblem{Kind::busy}));
    });
    if (!asked) told(std::unexpected(LinesProblem{Kind::busy}));
  };
  return impl->shard_of(query.job).call(plan);
}

bool Aggregator::counts(std::function<void(const Counts&)> then) {
  auto gather = std::make_shared<Gather<Counts>>(
      impl_->shards.size() + 1, [then = std::move(then)](std::vector<Counts> parts) {
        // One part has all but the shards' figures, which are added up.
        const auto whole = std::ranges::find_if(parts, &Counts::whole);
        Counts all = whole == parts.end() ? Counts{} : *whole;
        for (const Counts& part : parts)
          if (!part.whole) add(all.shards, part.shards);
        then(all);
      });
  Impl* const impl = impl_.get();
  const bool asked = impl->intake->call([gather, impl](Intake& intake) {
    Counts counts;
    counts.whole = true;
    counts.server = intake.server().stats();
    counts.store = impl->store->stats();
    counts.alerts = impl->alerter->stats();
    counts.pool = impl->pool->stats();
    counts.fleet = sum_of(intake.server().agents(), impl->outside.now().wall);
    {
      const std::lock_guard lock(impl->lines_mutex);
      counts.lines = impl->lines;
    }
    counts.ledger = intake.ledger().counts();
    counts.agents_max = impl->options.server.agents_max;
    counts.journal_bytes_max = impl->options.store.journal.bytes_max;
    counts.checkpoint_bytes_max = impl->options.store.checkpoints.bytes_max;
    counts.files = intake.ledger().offsets().files();
    counts.under_way = intake.ledger().under_way();
    counts.not_taken = intake.ledger().refused();
    counts.blind = intake.is_blind();
    counts.accepting = impl->accepting;
    gather->answer(counts);
  });
  return asked && std::ranges::all_of(impl->shards, [&](const auto& shard) {
           return shard->call([gather](Shard& part) {
             Counts counts;
             counts.shards = part.stats();
             gather->answer(counts);
           });
         });
}

Result<std::vector<store::Incident>> Aggregator::incidents(const store::IncidentQuery& query) {
  return impl_->store->database().incidents(query);
}

Result<std::optional<store::Incident>> Aggregator::incident(const std::string& id) {
  return impl_->store->database().incident(id);
}

Health Aggregator::health() const {
  Health health;
  const Millis now = impl_->outside.now().steady;
  health.journal = !impl_->accepting;
  health.blind = impl_->intake->is_blind();
  if (health.journal)
    health.reasons.emplace_back("the journal cannot be written: nothing is taken from agents");
  if (health.blind) health.reasons.emplace_back("blind: most agents fell silent at once");
  if (const auto ready = impl_->store->database().ready(); !ready) {
    health.database = true;
    health.reasons.push_back("the database cannot be used: " + ready.error().text());
  }
  const auto stalls = [&](Millis stepped, const std::string& what) {
    if (now - stepped < impl_->options.stalls_after) return;
    health.stalled = true;
    health.reasons.push_back(what + " has not moved for " + to_human(now - stepped));
  };
  stalls(impl_->intake->stepped(), "the receiving thread");
  for (std::size_t i = 0; i < impl_->shards.size(); ++i)
    stalls(impl_->shards[i]->stepped(), fmt::format("scoring thread {}", i));
  return health;
}

std::shared_ptr<const faults::Library> Aggregator::library() const {
  return impl_->faults->library();
}

bool Aggregator::confirm(ConfirmRequest request, FaultBook::Then<Confirmed> then) {
  return impl_->faults->confirm(std::move(request), std::move(then));
}

bool Aggregator::drop_fault(std::string id, std::string who, FaultBook::Then<faults::Fault> then) {
  return impl_->faults->drop(std::move(id), std::move(who), std::move(then));
}

PoolBook& Aggregator::pool() {
  return *impl_->pool;
}

TimeMs Aggregator::now() const {
  return impl_->outside.now().wall;
}

bool Aggregator::tell_outcome(OutcomeRequest request, OutcomeThen then) {
  Shard& shard = impl_->shard_of(request.outcome.job);
  return shard.call([this, request = std::move(request), then = std::move(then)](Shard& asked) {
    then(live::tell_outcome(request, *impl_->pool, impl_->store->database(), asked));
  });
}

void Aggregator::set(const Thresholds& thresholds) {
  for (const auto& shard : impl_->shards)
    shard->call([thresholds](Shard& asked) { asked.set(thresholds); });
}

const LiveJob* Aggregator::find(const std::string& job) const {
  return impl_->shard_of(job).find(job);
}

}  // namespace l4::live
