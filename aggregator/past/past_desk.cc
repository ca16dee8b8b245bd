#include "aggregator/past/past_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/thread.h"
#include "common/wire/codec/batch_codec.h"

namespace l4::past {
namespace {

/// Newer records may not be on disk yet.
constexpr Millis kJustNow{5'000};
constexpr std::uint64_t kMeasureEvery = std::uint64_t{64} << 20U;  ///< bytes of batches
constexpr unsigned kClockEvery = 256;                              ///< records

std::unexpected<PastProblem> problem(unsigned status, std::string code, std::string message) {
  return std::unexpected(PastProblem{status, std::move(code), std::move(message)});
}

store::Seq first_of(const store::SegmentList& segments) {
  return segments->empty() ? store::Seq{} : segments->front().first;
}

/// The number before the segment that holds `seq`, because that segment also has the news of agents
/// from shortly before.
store::Seq before(store::Seq seq, const store::SegmentList& segments) {
  store::Seq first = first_of(segments);
  for (const store::SegmentFile& segment : *segments)
    if (segment.first <= seq) first = std::max(first, segment.first);
  return store::Seq{first.value() - std::min<std::uint64_t>(first.value(), 1)};
}

bool is_damaged(const store::Replayed& replayed) {
  return replayed.lost_records > 0 || replayed.unread;
}

}  // namespace

PastDesk::PastDesk(PastOptions options, scoring::JobOptions job, Millis closes_after,
                   scoring::Services services)
    : options_(options),
      closes_after_(closes_after),
      services_(std::move(services)),
      job_(std::move(job)) {
  thread_ = start_thread("l4-past", [this](const std::stop_token& stop) { run(stop); });
}

PastDesk::~PastDesk() {
  stop();
}

void PastDesk::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

bool PastDesk::ask(PastQuestion question, PastThen then) {
  const MutexLock lock(mutex_);
  if (busy_ || thread_.get_stop_token().stop_requested()) return false;
  L4_CHECK(!task_, "a question about job {} waits, and the desk is not busy", task_->question.job);
  busy_ = true;
  task_ = Task{std::move(question), std::move(then)};
  asked_.notify_one();
  return true;
}

void PastDesk::set(const scoring::Thresholds& thresholds) {
  const MutexLock lock(mutex_);
  job_.thresholds = thresholds;
}

void PastDesk::run(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  while (asked_.wait(lock, stop, [this]() L4_REQUIRES(mutex_) { return task_.has_value(); })) {
    Task task = *std::exchange(task_, std::nullopt);
    lock.unlock();
    PastAnswer found = answer(task.question, stop);
    lock.lock();
    busy_ = false;
    lock.unlock();
    task.then(std::move(found));
    lock.lock();
  }
}

PastAnswer PastDesk::answer(const PastQuestion& question, const std::stop_token& stop) {
  const TimeMs now = services_.now().wall;
  const std::string asked = to_rfc3339(question.at);
  if (question.at > now)
    return problem(400, "bad_request",
                   fmt::format("{} lies in the future: it is {}", asked, to_rfc3339(now)));
  if (!question.first)
    return problem(404, "not_found", fmt::format("there is no job {}", question.job));
  if (question.at < question.opened)
    return problem(404, "not_found",
                   fmt::format("job {} began at {}, after {}", question.job,
                               to_rfc3339(question.opened), asked));
  const auto flushed = services_.store.flush();
  if (!flushed && now - question.at < kJustNow)
    return problem(503, "not_stored", flushed.error().text());
  store::SegmentList segments = services_.store.segments();
  for (bool again = false;; again = true) {
    const auto base = begin(question, segments);
    if (!base) return std::unexpected(base.error());
    auto found = replay(question, *base, segments, stop);
    if (found || found.error().code != kDamaged || again) return found;
    // Segments may have been removed meanwhile: tries once more with those that are left.
    segments = services_.store.segments();
  }
}

std::vector<store::SavedState> PastDesk::usable(const PastQuestion& question,
                                                const store::SegmentList& segments) const {
  auto states = services_.store.states(store::Store::job_name(question.job));
  if (states.empty()) return states;
  // Behind the newest checkpoint the journal keeps all records of the job anyway.
  const store::Seq newest = states.back().position, ring = first_of(segments);
  std::erase_if(states, [&](const store::SavedState& state) {
    const bool former = state.position < *question.first;  // an earlier job's of that name
    return former || (state.position.value() + 1 < ring.value() && state.position != newest);
  });
  return states;
}

std::expected<PastDesk::Base, PastProblem> PastDesk::begin(
    const PastQuestion& question, const store::SegmentList& segments) const {
  L4_CHECK(question.first, "job {} is asked for without its first record", question.job);
  scoring::JobOptions options;
  {
    const MutexLock lock(mutex_);
    options = job_;
  }
  const auto empty_job = [&] {
    return std::make_unique<PastJob>(question.job, options,
                                     PastJob::Surroundings{services_.pool.shelf_at(question.at),
                                                           services_.library(), closes_after_});
  };
  auto states = usable(question, segments);
  for (auto state = states.rbegin(); state != states.rend(); ++state) {
    if (state->time > question.at) continue;
    if (state->bytes > options_.job_bytes_max) return std::unexpected(too_large(state->bytes));
    const auto saved = services_.store.read_state(*state);
    auto job = empty_job();
    if (saved && job->load(saved->bytes, state->time))
      return Base{std::move(job), state->position, state->time};
    services_.warn(fmt::format("{}: passed over for a look at the past: {}", state->path.string(),
                               saved ? "it is of no use" : saved.error().text()));
  }
  const store::Seq ring = first_of(segments);
  const bool whole = !segments->empty() && *question.first >= ring;
  if (whole) return Base{empty_job(), before(*question.first, segments), question.opened};
  std::string message = fmt::format("what is kept of job {} does not reach back to {}",
                                    question.job, to_rfc3339(question.at));
  if (!states.empty())
    message += fmt::format(": it can be shown from {} on", to_rfc3339(states.front().time));
  return problem(404, "not_found", std::move(message));
}

PastProblem PastDesk::too_large(std::uint64_t bytes) const {
  constexpr unsigned kMebi = 20;
  return {503, "too_large",
          fmt::format("the job takes {} MiB when it is saved; jobs of at most {} MiB ([store] "
                      "past_job_mib_max) are shown as they were",
                      bytes >> kMebi, options_.job_bytes_max >> kMebi)};
}

PastAnswer PastDesk::replay(const PastQuestion& question, const Base& base,
                            const store::SegmentList& segments, const std::stop_token& stop) const {
  PastJob& job = *base.job;
  std::optional<PastProblem> gave_up;
  const Millis begun = services_.now().steady;
  unsigned records = 0;
  std::uint64_t bytes = 0;
  store::PastQuery query{question.job, base.after, question.at};
  query.goes_on = [&] {
    if (records++ % kClockEvery > 0) return true;
    if (stop.stop_requested())
      gave_up = PastProblem{503, "busy", "the aggregator is being stopped"};
    else if (question.left.stop_requested())
      gave_up = PastProblem{503, "given_up", "nobody waits for the answer any more"};
    else if (services_.now().steady - begun > options_.timeout)
      gave_up = PastProblem{
          503, "too_long",
          fmt::format("it takes longer than {} ([store] past_timeout_s) to go "
                      "through what the journal has from {} to {}",
                      to_human(options_.timeout), to_rfc3339(base.time), to_rfc3339(question.at))};
    return !gave_up;
  };
  const auto replayed =
      services_.store.read_past(segments, query, [&](const store::Record& record) {
        if (record.is_note()) {
          if (const auto note = decode_note(record.batch)) job.on(*note, record.seq);
          return true;
        }
        if (record.seq < *question.first) return true;
        auto batch = wire::decode(record.batch);
        if (batch) job.apply(std::move(*batch), record.seq, record.time);
        bytes += record.batch.size();
        if (bytes < kMeasureEvery) return true;
        bytes = 0;
        if (const std::uint64_t size = job.bytes(); size > options_.job_bytes_max)
          gave_up = too_large(size);
        return !gave_up;
      });
  if (gave_up) return std::unexpected(*std::move(gave_up));
  if (is_damaged(replayed)) return std::unexpected(damaged(question, base, replayed));
  std::string report = job.report(question.at);
  if (report.empty())
    return problem(404, "not_found",
                   fmt::format("the journal has nothing of job {} up to {}", question.job,
                               to_rfc3339(question.at)));
  return report;
}

PastProblem PastDesk::damaged(const PastQuestion& question, const Base& base,
                              const store::Replayed& replayed) const {
  std::string message = fmt::format(
      "records of the journal are lost or damaged after {}: job {} can be shown before then",
      to_rfc3339(replayed.whole_to.value_or(base.time)), question.job);
  for (const store::SavedState& state :
       services_.store.states(store::Store::job_name(question.job))) {
    if (state.time <= question.at || state.position.value() + 1 < replayed.whole_from.value())
      continue;
    message += fmt::format(", and from {} on", to_rfc3339(state.time));
    break;
  }
  if (!replayed.trouble.empty()) message += fmt::format(" ({})", replayed.trouble.front());
  return {404, std::string(kDamaged), std::move(message)};
}

}  // namespace l4::past
