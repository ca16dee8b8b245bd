#include "aggregator/past/past_job.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace l4::past {
namespace {

/// The rhythm in which a shard looks at a job: no sooner than kSoon, and at least every kStill
/// while something is due.
constexpr Millis kSoon{50}, kStill{250};
constexpr Millis kMeetsEvery{60'000};

}  // namespace

PastJob::PastJob(std::string id, const scoring::JobOptions& options, Surroundings around)
    : id_(std::move(id)),
      options_(options),
      around_(std::move(around)),
      presence_(options.presence) {}

scoring::LiveJob& PastJob::job(TimeMs now) {
  if (!job_) {
    job_ = std::make_unique<scoring::LiveJob>(id_, options_, now);
    now_ = now;
  }
  return *job_;
}

bool PastJob::load(std::span<const std::byte> bytes, TimeMs time) {
  if (!job(time).load(bytes, presence_)) return false;
  now_ = met_ = time;
  job_->meet(around_.shelf, time);
  return true;
}

void PastJob::apply(wire::Batch batch, store::Seq seq, TimeMs arrival) {
  pass(arrival);
  job(arrival).apply(std::move(batch), seq, arrival);
  judged_ = false;
}

void PastJob::on(const Note& note, store::Seq seq) {
  pass(note.at);
  if (!note.event) return started(note.at);
  using Kind = receive::AgentEvent::Kind;
  const receive::AgentEvent& event = *note.event;
  // An agent that has much to ship was connected before, although this is its first known note.
  if (event.kind == Kind::behind && !presence_.knows(event.agent))
    presence_.connected(event.agent, event.at - options_.presence.settles);
  presence_.on(event);
  if (!job_) return;
  const bool of_all = event.agent.empty();
  if (!of_all && !job_->state().agents().contains(event.agent)) return;
  const bool matters = of_all || event.kind == Kind::lost || event.kind == Kind::back;
  if (matters && !of_all && is_over(event.at)) return;
  job_->on(event, seq);
  judged_ = judged_ && !matters;
}

/// Notes that the aggregator had stopped, and came back with its saved state.
void PastJob::started(TimeMs now) {
  presence_ = scoring::Presence(options_.presence);
  now_ = now;
  if (!job_) return;
  ByteWriter saved;
  job_->save(saved, presence_);
  auto fresh = std::make_unique<scoring::LiveJob>(id_, options_, now);
  if (!fresh->load(saved.bytes())) return;  // cannot happen: the bytes were saved above
  job_ = std::move(fresh);
  job_->resume({}, now);
  for (const auto& [agent, state] : job_->state().agents())
    presence_.expect(agent, job_->last_arrival(), now);
  judged_ = false;
}

void PastJob::step(TimeMs now) {
  L4_CHECK(job_, "job {} steps at {} before its first batch", id_, now);
  now_ = now;
  if (job_->wants_to_meet(now) || now - met_ >= kMeetsEvery) {
    job_->meet(around_.shelf, now);
    met_ = now;
  }
  job_->pass(job_->seen_until(presence_, now));
}

void PastJob::pass(TimeMs to) {
  if (!job_) {
    now_ = std::max(now_, to);
    return;
  }
  if (to - now_ >= kSoon) step(now_ + kSoon);
  for (;;) {
    const auto due = job_->next_pass();
    if (!due || *due > to) break;
    const TimeMs next = *due > now_ ? std::max(*due, now_ + kSoon) : now_ + kStill;
    if (next > to) break;
    step(next);
  }
}

void PastJob::diagnose(TimeMs now) {
  L4_CHECK(job_, "job {} is diagnosed at {} before its first batch", id_, now);
  job_->meet(around_.shelf, now);
  met_ = now;
  static_cast<void>(job_->diagnose(now, job_->seen_until(presence_, now), around_.library.get()));
  judged_ = true;
}

/// Whether the job is over, so that later news of its agents no longer concern it.
bool PastJob::is_over(TimeMs now) {
  if (job_->ended() || now - job_->last_arrival() >= around_.closes_after) return true;
  if (!judged_) diagnose(now);
  return job_->report()->verdict.state == State::finished;
}

std::string PastJob::report(TimeMs at) {
  pass(at);
  if (!job_) return {};
  step(at);
  diagnose(at);
  return job_->report_json();
}

std::uint64_t PastJob::bytes() const {
  if (!job_) return 0;
  ByteWriter saved;
  job_->save(saved, presence_);
  return saved.size();
}

}  // namespace l4::past
