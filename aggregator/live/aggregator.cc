#include "aggregator/live/aggregator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "aggregator/faults/library.h"
#include "aggregator/live/gather.h"
#include "aggregator/live/intake.h"
#include "common/wire/codec.h"

namespace l4::live {
namespace {

void add(ShardStats& sum, const ShardStats& part) {
  sum.jobs += part.jobs;
  sum.jobs_ended += part.jobs_ended;
  sum.jobs_frozen += part.jobs_frozen;
  sum.jobs_dropped += part.jobs_dropped;
  sum.batches += part.batches;
  sum.batches_refused += part.batches_refused;
  sum.left_out += part.left_out;
  sum.diagnoses += part.diagnoses;
  sum.incidents_opened += part.incidents_opened;
  sum.incidents_open += part.incidents_open;
  for (std::size_t i = 0; i < kStates; ++i) sum.open_by_state.at(i) += part.open_by_state.at(i);
  sum.suspects += part.suspects;
  sum.checkpoints += part.checkpoints;
  sum.saved_bytes += part.saved_bytes;
  sum.waiting += part.waiting;
  sum.diagnosing += part.diagnosing;
  sum.diagnosis_longest = std::max(sum.diagnosis_longest, part.diagnosis_longest);
}

}  // namespace

Fleet sum_of(const std::vector<receive::AgentView>& agents, TimeMs now) {
  Fleet sum;
  for (const receive::AgentView& agent : agents) {
    ++sum.agents;
    sum.lost += agent.lost ? 1 : 0;
    if (!agent.connected) continue;
    ++sum.connected;
    sum.batches_held += agent.batches_held;
    sum.bytes_held += agent.bytes_held;
    ++sum.shedding.at(static_cast<std::size_t>(agent.shedding));
    sum.silence_max = std::max(sum.silence_max, now - agent.heard);
    if (agent.offset_known)
      sum.offset_max = std::max<Millis>(sum.offset_max, std::chrono::abs(agent.offset));
  }
  return sum;
}

struct Aggregator::Impl {
  Impl(Options given, Surroundings around) : options(std::move(given)), outside(std::move(around)) {
    if (!outside.warn) outside.warn = outside.say;
  }

  Shard& shard_of(const std::string& job) {
    return *shards[std::hash<std::string>{}(job) % shards.size()];
  }
  Services services() {
    return {
        *store,      outside.library, [this](const alert::Alert& alert) { alerter->send(alert); },
        outside.say, outside.warn,    outside.now};
  }
  store::StoreEvents events();

  Options options;
  Surroundings outside;
  std::unique_ptr<store::Store> store;  // outlives all that uses it
  std::unique_ptr<alert::Alerter> alerter;
  std::vector<std::unique_ptr<Shard>> shards;
  std::unique_ptr<StoreLedger> ledger;
  std::unique_ptr<Intake> intake;
  std::atomic<Intake*> hears{nullptr};  // what the store's threads may ring
  std::atomic<bool> accepting{true};
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
      impl->options.shards.checkpoint_every, impl->outside.port_notice);
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

bool Aggregator::snapshot(const std::string& job,
                          std::function<void(std::optional<std::string>)> then) {
  return impl_->shard_of(job).call(
      [job, then = std::move(then)](Shard& shard) { then(shard.snapshot(job)); });
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
    counts.fleet = sum_of(intake.server().agents(), impl->outside.now().wall);
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

const faults::Library& Aggregator::library() const {
  static const faults::Library kNone;
  return impl_->outside.library != nullptr ? *impl_->outside.library : kNone;
}

void Aggregator::set(const Thresholds& thresholds) {
  for (const auto& shard : impl_->shards)
    shard->call([thresholds](Shard& asked) { asked.set(thresholds); });
}

const LiveJob* Aggregator::find(const std::string& job) const {
  return impl_->shard_of(job).find(job);
}

}  // namespace l4::live
