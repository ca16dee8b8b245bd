#include "aggregator/scoring/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "common/base/check.h"

namespace l4::scoring {
namespace {

constexpr Millis kEvictEvery{1'000}, kPauseMost{250}, kPollEvery{50};
constexpr std::size_t kEventBytes = 256;

/// Replaces the shard's former part of a total; returns the total.
std::uint64_t update_total(std::atomic<std::uint64_t>& total, std::uint64_t& told,
                           std::uint64_t now) {
  const std::uint64_t more = now - std::exchange(told, now);  // may wrap: the sum does, too
  return total.fetch_add(more) + more;
}

/// Stores the row of the job for the list of past jobs.
void save_row(const Services& services, const LiveJob& job) {
  if (const auto put = services.store.database().save(job.stored_row()); !put)
    services.warn(fmt::format("job {}: its row is not stored: {}", job.id(), put.error().text()));
}

}  // namespace

Shard::Shard(ShardOptions options, Services services)
    : options_(std::move(options)),
      services_(std::move(services)),
      queue_(options_.waiting_max, options_.waiting_bytes_max),
      presence_(options_.job.presence) {
  stepped_ = services_.now().steady.count();
}

void Shard::deliver(store::Seq seq, wire::Batch batch, TimeMs arrival, std::size_t bytes) {
  queue_.push(BatchTask{seq, std::move(batch), arrival}, bytes);
}

void Shard::notify(const receive::AgentEvent& event, store::Seq seq) {
  queue_.push(EventTask{seq, event}, kEventBytes);
}

bool Shard::call(Call call) {
  return queue_.try_push(std::move(call), kEventBytes);
}

Shard::Held& Shard::held(const std::string& id, TimeMs now) {
  const auto [at, fresh] = jobs_.try_emplace(id);
  if (!fresh) return at->second;
  at->second.job = std::make_unique<LiveJob>(id, options_.job, now);
  if (is_restored_)
    if (const auto known = incidents_of(*at->second.job); !known.empty())
      at->second.job->resume(known, now);
  // The first checkpoints of jobs come at different times, and so do the later ones.
  const auto every = static_cast<std::size_t>(options_.checkpoint_every.count());
  at->second.saved_at = now - Millis{static_cast<std::int64_t>(std::hash<std::string>{}(id) %
                                                               std::max<std::size_t>(every, 1))};
  return at->second;
}

bool Shard::restore(const std::string& id, std::span<const std::byte> saved) {
  Held& made = held(id, services_.now().wall);
  if (!made.job->load(saved)) {
    jobs_.erase(id);
    return false;
  }
  made.bytes = saved.size();
  made.saved = made.job->last();
  return true;
}

void Shard::replay(store::Seq seq, wire::Batch batch, TimeMs arrival) {
  apply(std::move(batch), seq, arrival);
}

void Shard::apply(wire::Batch batch, store::Seq seq, TimeMs arrival) {
  const std::string id = batch.job;
  if (!jobs_.contains(id) && wire::is_of_nics_alone(batch)) return;  // opens no job
  held(id, arrival).job->apply(std::move(batch), seq, arrival);
}

void Shard::restored(TimeMs now, store::Seq seq) {
  is_restored_ = true;
  for (auto& [id, held] : jobs_) {
    LiveJob& job = *held.job;
    job.resume(incidents_of(job), now);
    job.noted(seq);
    for (const auto& [agent, state] : job.state().agents())
      presence_.expect(agent, job.last_arrival(), now);
  }
}

void Shard::handle(Task& task) {
  if (auto* batch = std::get_if<BatchTask>(&task)) {
    ++counts_.batches;
    apply(std::move(batch->batch), batch->seq, batch->arrival);
  } else if (const auto* event = std::get_if<EventTask>(&task)) {
    on(*event);
  } else {
    std::get<Call>(task)(*this);
  }
}

void Shard::on(const EventTask& task) {
  const receive::AgentEvent& event = task.event;
  presence_.on(event);
  for (auto& [id, held] : jobs_) {
    LiveJob& job = *held.job;
    const bool of_all = event.agent.empty();
    if (!of_all && (job.ended() || !job.state().agents().contains(event.agent))) continue;
    job.on(event, task.seq);
  }
}

void Shard::step(Millis most) {
  stepped_ = services_.now().steady.count();
  auto tasks = queue_.drain(std::min(most, pause(services_.now().wall)));
  for (Task& task : tasks) handle(task);
  const wire::Instant instant = services_.now();
  if (instant.steady - polled_ < kPollEvery) return;
  polled_ = instant.steady;
  const TimeMs now = instant.wall;
  check_due(now);
  diagnose_due(now);
  checkpoint_due(now);
  if (now - evicted_ >= kEvictEvery || now < evicted_) evict_due(now);
}

void Shard::run() {
  while (!queue_.is_closed() || queue_.size() > 0) step(kPauseMost);
}

/// Diagnoses the jobs that are due: first those with a sign of a failure, then those that wait
/// longest. The rest waits if this would delay batches too long.
void Shard::diagnose_due(TimeMs now) {
  std::vector<Held*> wanting;
  for (auto& [id, held] : jobs_) {
    LiveJob& job = *held.job;
    if (job.ended() && job.next_check(now) > now) continue;
    if (job.wants_to_meet(now)) job.meet(services_.pool.shelf(), now);
    if (job.poll(now, job.seen_until(presence_, now))) wanting.push_back(&held);
  }
  std::ranges::sort(wanting, {}, [](const Held* held) {
    return std::pair(!held->job->is_urgent(), held->job->looked_at());
  });
  const Millis until = services_.now().steady + options_.diagnoses_most;
  for (Held* held : wanting) {
    diagnose(*held);
    if (services_.now().steady >= until) break;
  }
}

/// Compares the nodes of the job that waits longest for it. One job a step: batches have their turn
/// then.
void Shard::check_due(TimeMs now) {
  LiveJob* waiting = nullptr;
  for (auto& [id, held] : jobs_)
    if (held.job->wants_check(now) &&
        (waiting == nullptr || held.job->next_node_check() < waiting->next_node_check()))
      waiting = held.job.get();
  if (waiting == nullptr) return;
  const wire::Instant begin = services_.now();
  const std::size_t alarms = waiting->check_nodes(begin.wall);
  const wire::Instant end = services_.now();
  const Millis cost = end.steady - begin.steady;
  waiting->rested_check(end.wall, cost);
  ++counts_.checks;
  counts_.check_alarms += alarms;
  counts_.checking += cost;
}

void Shard::diagnose(Held& held) {
  LiveJob& job = *held.job;
  const wire::Instant begin = services_.now();
  const auto library = services_.library();
  job.meet(services_.pool.shelf(), begin.wall);
  const auto changes =
      job.diagnose(begin.wall, job.seen_until(presence_, begin.wall), library.get());
  const wire::Instant end = services_.now();
  L4_CHECK(end.steady >= begin.steady, "the steady clock went back from {} to {} ms", begin.steady,
           end.steady);
  const Millis cost = end.steady - begin.steady;
  job.rest(end.wall, cost);
  ++counts_.diagnoses;
  counts_.diagnosing += cost;
  counts_.diagnosis_longest = std::max(counts_.diagnosis_longest, cost);
  publish(job, changes);
  publish_change(held);
  offer(held);
}

bool Shard::save(Held& held, TimeMs now) {
  LiveJob& job = *held.job;
  if (job.last() == held.saved) return true;
  ByteWriter out;
  job.save(out, presence_);
  const std::uint64_t bytes = out.size();
  if (!services_.store.checkpoint(store::Store::job_name(job.id()), job.last(), std::move(out)))
    return false;
  ++counts_.checkpoints;
  held.saved = job.last();
  held.saved_at = now;
  held.bytes = bytes;
  constexpr Millis kRowEvery{600'000};
  if (job.ended() || held.row_at == TimeMs{} || now - held.row_at >= kRowEvery) {
    held.row_at = now;
    save_row(services_, job);
  }
  return true;
}

void Shard::checkpoint_due(TimeMs now) {
  for (auto& [id, held] : jobs_) {
    if (now < held.saved_at) held.saved_at = now;  // the clock was set back
    if (held.job->last() == held.saved || now - held.saved_at < options_.checkpoint_every) continue;
    if (!save(held, now)) held.saved_at = now - options_.checkpoint_every + kEvictEvery;
    return;  // one a step
  }
}

void Shard::save_all() {
  const TimeMs now = services_.now().wall;
  for (auto& [id, held] : jobs_) save(held, now);
}

/// Removes old rows of pool and database each hour; the shard that comes first does it.
void Shard::evict_rows(TimeMs now) {
  constexpr Millis kBooksEvery{3'600'000};
  TimeMs kept = services_.totals->rows_evicted;
  if (now - kept < kBooksEvery && now >= kept) return;
  if (!services_.totals->rows_evicted.compare_exchange_strong(kept, now)) return;
  if (kept != TimeMs{}) services_.pool.evict_old();
  if (const auto gone = services_.store.database().retain(now); !gone)
    services_.warn("what is old stays in the database: " + gone.error().text());
}

void Shard::evict_due(TimeMs now) {
  evicted_ = now;
  presence_.forget_old(now);
  evict_rows(now);
  std::vector<std::string> over;
  std::uint64_t bytes = 0;
  Held* largest = nullptr;
  for (auto& [id, held] : jobs_) {
    LiveJob& job = *held.job;
    if (!job.ended() && now - job.last_arrival() >= options_.closes_after) {
      job.end(now);
      publish(job, job.close_notices(now));
      save_row(services_, job);
      publish_change(held);
      services_.say(fmt::format("job {} is over: nothing was heard of it for {}", id,
                                to_human(options_.closes_after)));
    }
    if (job.ended() && now - *job.ended_at() >= options_.keeps_for) over.push_back(id);
    bytes += held.bytes;
    if (held.bytes > options_.job_bytes_max) freeze(held, "it is larger than one job may be");
    if (!job.is_frozen() && (largest == nullptr || held.bytes > largest->bytes)) largest = &held;
  }
  for (const std::string& id : over) drop(id, {});
  // If the total is over the limit, at least one shard is over its share; only such a shard evicts.
  const std::uint64_t shards = std::max<std::uint64_t>(options_.shards, 1);
  if (update_total(services_.totals->jobs, counted_jobs_, jobs_.size()) > options_.jobs_max &&
      jobs_.size() > options_.jobs_max / shards)
    drop(first_to_go(false), "there are more jobs than may be");
  if (update_total(services_.totals->bytes, counted_bytes_, bytes) <= options_.all_bytes_max ||
      bytes <= options_.all_bytes_max / shards)
    return;
  if (const std::string id = first_to_go(true); !id.empty())
    drop(id, "all jobs together are larger than they may be");
  else if (largest != nullptr)
    freeze(*largest, "all jobs together are larger than they may be");
}

/// The job to drop first: the one that ended first, else the one that has been silent for longest.
std::string Shard::first_to_go(bool ended_only) const {
  const LiveJob* first = nullptr;
  const auto rank = [](const LiveJob& job) {
    return std::pair(!job.ended(), job.ended_at().value_or(job.last_arrival()));
  };
  for (const auto& [id, held] : jobs_)
    if ((held.job->ended() || !ended_only) && (first == nullptr || rank(*held.job) < rank(*first)))
      first = held.job.get();
  return first == nullptr ? std::string() : first->id();
}

void Shard::drop(const std::string& id, const std::string& why) {
  const auto at = jobs_.find(id);
  if (at == jobs_.end()) return;
  LiveJob& job = *at->second.job;
  if (!services_.store.close_job(id, job.last())) return;  // later
  save_row(services_, job);
  publish(job, job.close_notices(services_.now().wall));
  if (!why.empty()) services_.warn(fmt::format("job {} was let go: {}", id, why));
  if (services_.changed) services_.changed(row(job), true);
  ++counts_.jobs_dropped;
  counts_.batches_refused += job.refused();
  counts_.left_out += job.left_out();
  jobs_.erase(at);
}

void Shard::freeze(Held& held, const std::string& why) {
  if (held.job->is_frozen()) return;
  held.job->freeze();
  services_.warn(fmt::format("job {} is not followed any further: {} ({} bytes saved)",
                             held.job->id(), why, held.bytes));
}

Millis Shard::pause(TimeMs now) const {
  TimeMs next = now + kPauseMost;
  for (const auto& [id, held] : jobs_) next = std::min(next, held.job->next_check(now));
  return std::max(kPollEvery, next - now);
}

std::vector<JobRow> Shard::rows() const {
  std::vector<JobRow> rows;
  rows.reserve(jobs_.size());
  const TimeMs now = services_.now().wall;
  for (const auto& [id, held] : jobs_)
    rows.push_back(held.job->row(now, held.job->seen_until(presence_, now)));
  return rows;
}

const LiveJob* Shard::refresh(const std::string& id) {
  const auto at = jobs_.find(id);
  if (at == jobs_.end()) return nullptr;
  if (at->second.job->answers_anew(services_.now().wall)) diagnose(at->second);
  return at->second.job.get();
}

JobRow Shard::row(const LiveJob& job) const {
  const TimeMs now = services_.now().wall;
  return job.row(now, job.seen_until(presence_, now));
}

NormalLines Shard::normal_lines(const NormalQuestion& question) {
  NormalLines found;
  const TimeMs now = services_.now().wall;
  for (auto& [id, held] : jobs_)
    if (!held.job->report())
      diagnose(held);  // right after a start the job has no report yet, and may be healthy
  for (const auto& [id, held] : jobs_)
    scan(*held.job, held.job->is_suspect(now, held.job->seen_until(presence_, now)), question,
         found);
  return found;
}

void Shard::schedule_diagnoses() {
  for (auto& [id, held] : jobs_)
    if (held.job->incidents().has_open()) held.job->schedule_diagnosis();
}

const LiveJob* Shard::find(const std::string& id) const {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : at->second.job.get();
}

void Shard::set(const Thresholds& thresholds) {
  options_.job.thresholds = thresholds;
  for (auto& [id, held] : jobs_) held.job->set(thresholds);
}

ShardStats Shard::stats() const {
  ShardStats stats = counts_;
  const TimeMs now = services_.now().wall;
  stats.jobs = jobs_.size();
  stats.waiting = queue_.size();
  for (const auto& [id, held] : jobs_) {
    const LiveJob& job = *held.job;
    stats.jobs_ended += job.ended() ? 1 : 0;
    stats.jobs_frozen += job.is_frozen() ? 1 : 0;
    stats.batches_refused += job.refused();
    stats.left_out += job.left_out();
    stats.incidents_open += job.incidents().has_open() ? 1 : 0;
    for (const State state : job.incidents().open_states())
      ++stats.open_by_state.at(static_cast<std::size_t>(state));
    stats.notices_open += job.open_notices();
    stats.suspects += job.is_suspect(now, job.seen_until(presence_, now)) ? 1 : 0;
    stats.saved_bytes += held.bytes;
  }
  return stats;
}

}  // namespace l4::scoring
