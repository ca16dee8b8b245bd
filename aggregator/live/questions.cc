// Questions to the aggregator from other threads, and the threads that answer them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "aggregator/live/aggregator_impl.h"
#include "aggregator/live/gather.h"
#include "aggregator/rows/node_rows.h"
#include "aggregator/serve/utf8.h"

namespace l4::live {

void Aggregator::Impl::audit_lines(
    const fetch::LinesQuery& query,
    const std::expected<fetch::LinesResult, fetch::LinesProblem>& result) {
  outside.say(fetch::audit_text(query, result));
  const MutexLock lock(lines_mutex);
  ++lines.questions;
  if (!result) {
    ++lines.refused;
    return;
  }
  lines.lines += result->lines.size();
  lines.bytes += result->text_bytes;
  lines.incomplete += result->missing.empty() ? 0 : 1;
}

bool Aggregator::jobs(std::function<void(std::vector<scoring::JobRow>)> then) {
  using Rows = std::vector<scoring::JobRow>;
  auto gather = std::make_shared<Gather<Rows>>(impl_->shards.size(),
                                               [then = std::move(then)](std::vector<Rows> parts) {
                                                 Rows all;
                                                 for (Rows& part : parts)
                                                   std::ranges::move(part, std::back_inserter(all));
                                                 std::ranges::sort(all, {}, &scoring::JobRow::id);
                                                 then(std::move(all));
                                               });
  return std::ranges::all_of(impl_->shards, [&](const auto& shard) {
    return shard->call([gather](scoring::Shard& asked) { gather->answer(asked.rows()); });
  });
}

bool Aggregator::job(const std::string& id, ReportAge age,
                     std::function<void(const scoring::LiveJob*, const scoring::Shard&)> then) {
  return impl_->shard_of(id).call([id, age, then = std::move(then)](scoring::Shard& shard) {
    const scoring::LiveJob* job = shard.find(id);
    const bool missing = age == ReportAge::last && job != nullptr && !job->report();
    if (age == ReportAge::now || missing) job = shard.refresh(id);
    then(job, shard);
  });
}

bool Aggregator::agents(std::function<void(bool, std::vector<receive::AgentView>)> then) {
  return impl_->intake->call([then = std::move(then)](intake::Intake& intake) {
    then(intake.is_blind(), intake.server().agents());
  });
}

bool Aggregator::lines(const fetch::LinesQuery& query, fetch::LinesThen then) {
  Impl* const impl = impl_.get();
  const fetch::LinesThen told = [impl, query, then = std::move(then)](auto result) {
    impl->audit_lines(query, result);
    then(std::move(result));
  };
  const auto plan = [impl, query, told](scoring::Shard& shard) {
    using Kind = fetch::LinesProblem::Kind;
    const scoring::LiveJob* job = shard.find(query.job);
    if (job == nullptr) return told(std::unexpected(fetch::LinesProblem{Kind::no_job}));
    fetch::LinesPlan whom = fetch::plan_lines(*job, query, impl->options.lines);
    if (whom.agents.empty()) return told(std::unexpected(fetch::LinesProblem{Kind::nothing}));
    const bool asked =
        impl->intake->call([told, whom = std::move(whom)](intake::Intake& intake) mutable {
          if (!intake.ask(std::move(whom), told))
            told(std::unexpected(fetch::LinesProblem{Kind::busy}));
        });
    if (!asked) told(std::unexpected(fetch::LinesProblem{Kind::busy}));
  };
  return impl->shard_of(query.job).call(plan);
}

bool Aggregator::past(const std::string& job, TimeMs at, const std::stop_token& left,
                      past::PastThen then) {
  return impl_->shard_of(job).call(
      [impl = impl_.get(), job, at, left, then = std::move(then)](const scoring::Shard& shard) {
        past::PastQuestion question{job, at, {}, {}, left};
        if (const scoring::LiveJob* known = shard.find(job)) {
          question.first = known->first();
          question.opened = known->opened();
        }
        if (!impl->past->ask(std::move(question), then))
          then(std::unexpected(past::PastProblem{
              503, "busy", "another question about the past is being answered; try again"}));
      });
}

bool Aggregator::flows(std::function<void(const collect::FlowCollector*)> then) {
  if (impl_->collector)
    return impl_->collector->call(
        [then = std::move(then)](const collect::FlowCollector& collector) { then(&collector); });
  then(nullptr);
  return true;
}

bool Aggregator::receives_flows() const {
  return impl_->collector != nullptr;
}

bool Aggregator::counts(std::function<void(const Counts&)> then) {
  auto gather = std::make_shared<Gather<Counts>>(
      impl_->shards.size() + 1, [then = std::move(then)](std::vector<Counts> parts) {
        // One part has all figures except those of the shards, which are added up.
        const auto whole = std::ranges::find_if(parts, &Counts::whole);
        Counts all = whole == parts.end() ? Counts{} : *whole;
        for (Counts& part : parts) {
          if (part.whole) continue;
          add(all.shards, part.shards);
          std::ranges::move(part.jobs, std::back_inserter(all.jobs));
        }
        then(all);
      });
  Impl* const impl = impl_.get();
  const bool asked = impl->intake->call([gather, impl](intake::Intake& intake) {
    Counts counts;
    counts.whole = true;
    counts.server = intake.server().stats();
    counts.store = impl->store->stats();
    counts.alerts = impl->alerter->stats();
    counts.pool = impl->pool->stats();
    if (const auto library = impl->faults->library()) {
      counts.faults = library->faults().size();
      counts.faults_confirmed = static_cast<std::uint64_t>(std::ranges::count_if(
          library->faults(),
          [](const faults::Fault& fault) { return fault.confirmed.has_value(); }));
    }
    counts.fleet = sum_of(intake.server().agents(), impl->outside.now().wall);
    {
      const MutexLock lock(impl->lines_mutex);
      counts.lines = impl->lines;
    }
    counts.ledger = intake.ledger().counts();
    if (impl->collector) counts.flows = impl->collector->counts();
    counts.events = impl->board.counts();
    counts.agents_max = impl->options.server.agents_max;
    counts.journal_bytes_max = impl->options.store.journal.bytes_max;
    counts.checkpoint_bytes_max = impl->options.store.checkpoints.bytes_max;
    counts.files = intake.ledger().offsets().files();
    counts.under_way = intake.ledger().under_way();
    counts.not_taken = intake.ledger().refused();
    counts.blind = intake.is_blind();
    counts.accepting = impl->accepting;
    counts.now = impl->outside.now().wall;
    gather->answer(counts);
  });
  return asked && std::ranges::all_of(impl->shards, [&](const auto& shard) {
           return shard->call([gather](scoring::Shard& part) {
             Counts counts;
             counts.shards = part.stats();
             counts.jobs = part.rows();
             gather->answer(std::move(counts));
           });
         });
}

Status Aggregator::Impl::status() const {
  Status status;
  status.software = options.server.software;
  status.started = started;
  status.now = outside.now().wall;
  status.health = health();
  status.folder = options.store.folder.string();
  std::error_code failed;
  if (const auto space = std::filesystem::space(options.store.folder, failed); !failed) {
    status.disk_bytes = space.capacity;
    status.disk_free_bytes = space.available;
  }
  status.journal_bytes = store->stats().commit.journal_bytes;
  status.journal_bytes_max = options.store.journal.bytes_max;
  status.lost_after = options.server.liveness.lost_after;
  status.sinks = alerter->stats().sinks;
  if (!outside.allowed) return status;
  if (auto allowed = outside.allowed()) status.absent = std::move(*allowed);
  return status;
}

bool Aggregator::status(std::function<void(const Status&)> then) {
  return impl_->intake->call(
      [status = impl_->status(), then = std::move(then)](intake::Intake& intake) mutable {
        const auto agents = intake.server().agents();
        status.fleet = sum_of(agents, status.now);
        std::unordered_set<std::string> heard{wire::kFleetKeyName};
        for (const receive::AgentView& agent : agents) heard.insert(agent.agent);
        if (auto& absent = status.absent) {
          std::erase_if(*absent, [&](const std::string& name) { return heard.contains(name); });
          std::ranges::sort(*absent);
          const auto again = std::ranges::unique(*absent);
          absent->erase(again.begin(), again.end());
        }
        then(status);
      });
}

Result<std::vector<store::Incident>> Aggregator::incidents(const store::IncidentQuery& query) {
  return impl_->store->database().incidents(query);
}

Result<std::optional<store::Incident>> Aggregator::incident(const std::string& id) {
  return impl_->store->database().incident(id);
}

Result<std::optional<store::Incident>> Aggregator::incident_head(const std::string& id) {
  return impl_->store->database().incident_head(id);
}

store::Database& Aggregator::database() {
  return impl_->store->database();
}

bool Aggregator::on_shard(const std::string& job, scoring::Shard::Call call) {
  return impl_->shard_of(job).call(std::move(call));
}

alert::QuietBook& Aggregator::quiet() {
  return impl_->alerter->quiet();
}

void Aggregator::tell_quiet(std::string_view type, const std::string& job, std::string_view data,
                            const std::string& line) {
  impl_->outside.say(serve::harmless(line));
  impl_->board.publish(type, job, data);
}

bool Aggregator::names(Named of, std::function<void(std::vector<std::string>)> then) {
  using Names = std::vector<std::string>;
  const bool of_nodes = of == Named::nodes;
  auto gather =
      std::make_shared<Gather<Names>>(impl_->shards.size() + (of_nodes ? 1 : 0),
                                      [then = std::move(then)](const std::vector<Names>& parts) {
                                        std::set<std::string> all;
                                        for (const Names& part : parts)
                                          all.insert(part.begin(), part.end());
                                        then({all.begin(), all.end()});
                                      });
  const auto of_shard = [gather, of_nodes](const scoring::Shard& asked) {
    Names names;
    for (const scoring::JobRow& row : asked.rows()) {
      const scoring::LiveJob* job = of_nodes ? asked.find(row.id) : nullptr;
      if (job != nullptr)
        for (const rows::NodeRow& node : rows::node_rows(job->state(), nullptr))
          names.push_back(node.node);
      else
        names.push_back(row.id);
    }
    gather->answer(std::move(names));
  };
  if (of_nodes && !impl_->intake->call([gather](intake::Intake& intake) {
        Names names;
        for (const receive::AgentView& agent : intake.server().agents())
          names.push_back(agent.agent);
        gather->answer(std::move(names));
      }))
    return false;
  return std::ranges::all_of(impl_->shards,
                             [&](const auto& shard) { return shard->call(of_shard); });
}

std::expected<void, alert::TrialRefusal> Aggregator::test_alerts(const std::string& sink,
                                                                 const std::string& who,
                                                                 alert::TrialThen then) {
  // Without tokens everybody who may ask is `local`.
  const std::string asker = who == "local" ? "a user of this host" : who;
  return impl_->alerter->test(sink, asker,
                              [say = impl_->outside.say, asker, then = std::move(then)](auto rows) {
                                say(alert::to_line(rows, asker));
                                then(std::move(rows));
                              });
}

std::vector<alert::Delivery> Aggregator::deliveries() const {
  return impl_->alerter->deliveries();
}

Health Aggregator::Impl::health() const {
  Health health;
  const Millis now = outside.now().steady;
  if (!accepting)
    health.add(health.journal, "the journal cannot be written: nothing is taken from agents");
  if (intake->is_blind()) health.add(health.blind, "blind: most agents fell silent at once");
  if (const auto ready = store->database().ready(); !ready)
    health.add(health.database, "the database cannot be used: " + ready.error().text());
  const auto stalls = [&](Millis stepped, const std::string& what) {
    if (now - stepped < options.stalls_after) return;
    health.add(health.stalled, what + " has not moved for " + to_human(now - stepped));
  };
  stalls(intake->stepped(), "the receiving thread");
  for (std::size_t i = 0; i < shards.size(); ++i)
    stalls(shards[i]->stepped(), fmt::format("scoring thread {}", i));
  if (collector) stalls(collector->stepped(), "the thread of flow records");
  return health;
}

Health Aggregator::health() const {
  return impl_->health();
}

EventBoard& Aggregator::events() {
  return impl_->board;
}

std::shared_ptr<const faults::Library> Aggregator::library() const {
  return impl_->faults->library();
}

bool Aggregator::confirm(confirm::ConfirmRequest request,
                         confirm::FaultBook::Then<confirm::Confirmed> then) {
  return impl_->faults->confirm(std::move(request), std::move(then));
}

bool Aggregator::drop_fault(std::string id, std::string who,
                            confirm::FaultBook::Then<faults::Fault> then) {
  return impl_->faults->drop(std::move(id), std::move(who), std::move(then));
}

pool::PoolBook& Aggregator::pool() {
  return *impl_->pool;
}

TimeMs Aggregator::now() const {
  return impl_->outside.now().wall;
}

bool Aggregator::record_outcome(confirm::OutcomeRequest request, confirm::OutcomeThen then) {
  scoring::Shard& shard = impl_->shard_of(request.outcome.job);
  return shard.call(
      [this, request = std::move(request), then = std::move(then)](scoring::Shard& asked) {
        then(confirm::record_outcome(request, *impl_->pool, impl_->store->database(), asked));
      });
}

void Aggregator::set(const scoring::Thresholds& thresholds) {
  impl_->past->set(thresholds);
  for (const auto& shard : impl_->shards)
    shard->call([thresholds](scoring::Shard& asked) { asked.set(thresholds); });
}

void Aggregator::set(alert::AlerterOptions alerts) {
  alerts.sender.seed = impl_->options.alerts.sender.seed;
  impl_->alerter->set(std::move(alerts));
}

const scoring::LiveJob* Aggregator::find(const std::string& job) const {
  return impl_->shard_of(job).find(job);
}

}  // namespace l4::live
