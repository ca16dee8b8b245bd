#include "aggregator/scoring/live_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "aggregator/faults/library.h"
#include "aggregator/job/attempts.h"
#include "aggregator/job/laps.h"
#include "aggregator/job/rank_coverage.h"
#include "aggregator/job/saved_job.h"
#include "aggregator/serve/report_json.h"
#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::scoring {
namespace {

constexpr std::uint64_t kMagic = 0x3445564954344cULL;  // "L4LIVE4", without the last letters
/// The rest before a routine diagnosis is so many times longer.
constexpr double kRoutineShare = 4;

/// Open failures that the network shows.
std::set<std::pair<detect::network::Trouble, TimeMs>> open_in(
    const detect::network::Network* network) {
  std::set<std::pair<detect::network::Trouble, TimeMs>> open;
  if (network == nullptr) return open;
  for (const detect::network::Finding& finding : network->findings)
    if (detect::network::is_failure(finding)) open.emplace(finding.trouble, finding.since);
  return open;
}

}  // namespace

LiveJob::LiveJob(std::string id, const JobOptions& options, TimeMs now)
    : options_(options),
      state_(id, 0, templates_,
             job::Limits{.iterations = options.iterations_max,
                         .iterations_soft = options.iterations_soft,
                         .iterations_enough = options.iterations_enough}),
      watch_(options.thresholds.watch),
      book_(id, options.thresholds.incidents),
      notices_(std::move(id)),
      opened_(now),
      last_arrival_(now) {}

/// Drops repeated warnings, and those beyond `warnings_max`.
void LiveJob::bound_warnings(wire::Batch& batch) {
  const auto& known = state_.warnings();
  std::erase_if(batch.warnings, [&](const wire::Warning& warning) {
    const bool drop = known.size() >= options_.warnings_max;
    left_out_ += drop ? 1 : 0;
    return drop || (warning.bytes == 0 && std::ranges::find(known, warning) != known.end());
  });
}

void LiveJob::apply(wire::Batch batch, store::Seq seq, TimeMs arrival) {
  if (first_ == store::Seq{}) first_ = seq;
  noted(seq);
  const bool nics_alone = wire::is_of_nics_alone(batch);
  if (!nics_alone) {
    last_arrival_ = std::max(last_arrival_, arrival);
    ended_.reset();
  }
  if (frozen_) {
    left_out_ += nics_alone ? 0 : 1;
    return;
  }
  // What cards of the node do says nothing of the job's own; it waits for the next diagnosis.
  if (!nics_alone) {
    changed_ = unchecked_ = true;
    if (check_at_ == TimeMs::max()) check_at_ = arrival + options_.routine;
    if (!batch.segments.empty() || !batch.processes.empty()) book_.heard();
    bound_warnings(batch);
  }
  lineage_.translate(batch);
  if (!state_.apply(batch)) ++refused_;
  if (nics_alone) return;
  watch_.applied(state_, batch, arrival);
  keep_look();
}

/// Looks soon after a long iteration, but for this takes no more time than routine may.
void LiveJob::keep_look() {
  if (const auto from = watch_.look_from())
    check_at_ = std::min(check_at_, std::max(*from, quiet_until_));
}

void LiveJob::on(const receive::AgentEvent& event, store::Seq seq) {
  using Kind = receive::AgentEvent::Kind;
  noted(seq);
  if (event.kind == Kind::lost) watch_.agent_lost(event.agent, event.heard);
  if (event.kind == Kind::back) watch_.agent_back(event.agent, event.at);
  if (event.kind == Kind::blind || event.kind == Kind::sighted) watch_.unheard();
}

bool LiveJob::poll(TimeMs now, TimeMs seen_until) {
  const auto triggers = watch_.due(seen_until);
  book_.triggered(triggers, now);
  if (!triggers.empty()) {
    wanted_ = urgent_ = true;
    recheck_ = options_.recheck;
  }
  if (now >= check_at_) {
    // If no line arrived, only time can have confirmed or ended a suspicion.
    urgent_ = urgent_ || book_.is_checked(now) || book_.owes_at().has_value();
    wanted_ = wanted_ || urgent_ || changed_;
    check_at_ = TimeMs::max();
  }
  return wanted_ && may_diagnose(now);
}

void LiveJob::see(std::shared_ptr<const detect::network::Network> network, TimeMs now) {
  const auto before = open_in(network_.get()), after = open_in(network.get());
  network_ = std::move(network);
  if (before == after || ended_) return;
  for (const auto& [trouble, since] : after)
    if (!before.contains({trouble, since}))
      watch_.seen_from_outside(fmt::format("the network shows {} since {}",
                                           detect::network::text(trouble), to_rfc3339(since)),
                               now);
  check_at_ = std::min(check_at_, now);
  changed_ = true;
}

TimeMs LiveJob::seen_until(const Presence& presence, TimeMs now) const {
  TimeMs until = now;
  for (const auto& [agent, known] : state_.agents())
    until = std::min(until, presence.seen_until(agent, now));
  return until;
}

TimeMs LiveJob::next_check(TimeMs now) const {
  if (wanted_) return std::max(now, rest_until_);
  const auto watch = watch_.next_check();
  return std::min(check_at_, watch.value_or(TimeMs::max()));
}

IncidentBook::Changes LiveJob::diagnose(TimeMs now, TimeMs seen_until,
                                        const faults::Library* library) {
  diagnose::Options how;
  how.as_of = seen_until;
  how.library = library;
  how.hang = options_.thresholds.hang;
  how.live = watch_.live(seen_until);
  how.pool = &kinship_.normal();
  how.network = network_.get();
  how.scale = options_.scale.get();
  report_ = diagnose::diagnose(state_, {}, how).report;
  report_->version = options_.version;
  report_at_ = now;
  report_json_.clear();
  wanted_ = urgent_ = changed_ = false;
  IncidentBook::Changes changes = book_.diagnosed(*report_, now);
  for (alert::Alert& alert : notices_.reported(*report_, now))
    changes.alerts.push_back(std::move(alert));
  watch_.diagnosed(*report_, now);
  return changes;
}

/// Schedules the next diagnosis by the cost of the last one and the amount of new data.
void LiveJob::rest(TimeMs now, Millis cost) {
  cost_ = cost;
  const auto times = [&](double factor) {
    return Millis{static_cast<std::int64_t>(static_cast<double>(cost.count()) * factor)};
  };
  const Millis rest = std::max(options_.rest_least, times(options_.rest_factor));
  rest_until_ = now + rest;
  quiet_until_ = now + times(options_.rest_factor * kRoutineShare);
  if (report_ && report_->verdict.state == State::finished && !book_.has_open()) {
    check_at_ = TimeMs::max();
    if (!ended_) ended_ = now;
    return;
  }
  if (book_.is_checked(now) || book_.has_open()) {
    const Millis longest = book_.is_checked(now) ? options_.routine : options_.revise;
    check_at_ = now + std::max(rest, std::min(recheck_, longest));
    recheck_ = std::min(2 * recheck_, options_.routine);
    if (const auto owed = book_.owes_at())
      check_at_ = std::min(check_at_, std::max(now + rest, *owed));
  } else {
    check_at_ = std::max(now + options_.routine, quiet_until_);
  }
  keep_look();
}

bool LiveJob::wants_check(TimeMs now) const {
  return unchecked_ && !frozen_ && !ended_ && !book_.has_open() && node_check_.is_due(now) &&
         may_diagnose(now);
}

std::size_t LiveJob::check_nodes(TimeMs now) {
  unchecked_ = false;
  std::vector<NodeAlarm> alarms = node_check_.run(state_, kinship_.normal());
  for (NodeAlarm& alarm : alarms) watch_.differs(alarm.node, std::move(alarm.detail), now);
  return alarms.size();
}

IncidentBook::Changes LiveJob::close_notices(TimeMs now) {
  return {{}, notices_.close("the job is no longer watched", now)};
}

bool LiveJob::ended_well() const {
  return report_ && report_->verdict.state == State::finished &&
         report_->verdict.confidence >= options_.thresholds.incidents.confidence_min &&
         !book_.has_open() && !frozen_;
}

std::optional<pool::Run> LiveJob::healthy_run(bool told) const {
  const job::Attempts attempts(state_);
  const std::vector<std::int32_t> numbers = attempts.numbers();
  L4_CHECK(!numbers.empty(), "job {} has no attempt", id());
  const job::JobView view = job::make_view(attempts, numbers.back(), false);
  if (!told && pool::ended_badly(view)) return {};
  pool::Run run = pool::make_run(view);
  run.origin = told ? pool::Origin::outcome : pool::Origin::logs;
  run.ended = last_arrival_;
  const watch::Pauses& pauses = watch_.progress().pauses();
  for (int stage = 0; stage <= static_cast<int>(Stage::exit); ++stage)
    for (const bool startup : {true, false}) {
      const watch::PauseKind kind{static_cast<Stage>(stage), startup};
      if (pauses.seen(kind) > 0) run.pauses.push_back({kind.stage, startup, pauses.largest(kind)});
    }
  return run;
}

bool LiveJob::answers_anew(TimeMs now) const {
  constexpr Millis kFresh{1'000}, kCheap{100}, kOften{200};
  if (!report_) return true;
  const Millis age = now - report_at_;
  if (changed_ && cost_ <= kCheap && age >= kOften) return true;
  return may_diagnose(now) && (changed_ || age >= kFresh);
}

const std::string& LiveJob::report_json() const {
  if (report_json_.empty() && report_) report_json_ = serve::to_json(*report_);
  return report_json_;
}

void LiveJob::save(ByteWriter& out, const Presence& presence) const {
  out.word(kMagic);
  out.number(last_.value());
  out.number(first_.value());
  out.signed_number(opened_.time_since_epoch().count());
  out.signed_number(last_arrival_.time_since_epoch().count());
  out.number(refused_);
  out.number(left_out_);
  ByteWriter part;
  lineage_.save(part);
  out.number(part.size());
  out.raw(part.bytes());
  part.clear();
  notices_.save(part);
  out.number(part.size());
  out.raw(part.bytes());
  part.clear();
  save_moment(part, presence);
  out.number(part.size());
  out.raw(part.bytes());
  job::save_job(state_, out);
}

/// Saves the state that a restart does not restore, but questions about the past do.
void LiveJob::save_moment(ByteWriter& out, const Presence& presence) const {
  out.byte(frozen_ ? 1 : 0);
  out.byte(ended_ ? 1 : 0);
  out.signed_number(ended_.value_or(TimeMs{}).time_since_epoch().count());
  presence.save(out, [this](const std::string& name) { return state_.agents().contains(name); });
  watch_.save(out);
}

void LiveJob::load_moment(ByteReader& in, Presence& presence) {
  frozen_ = in.byte() != 0;
  const bool ended = in.byte() != 0;
  ended_ = TimeMs{Millis{in.signed_number()}};
  if (!ended) ended_.reset();
  presence.load(in);
  watch_.load(in);
}

bool LiveJob::load(std::span<const std::byte> bytes) {
  return read(bytes, nullptr);
}

bool LiveJob::load(std::span<const std::byte> bytes, Presence& presence) {
  return read(bytes, &presence);
}

bool LiveJob::read(std::span<const std::byte> bytes, Presence* presence) {
  ByteReader in(bytes);
  if (in.word() != kMagic) return false;
  last_ = store::Seq{in.number()};
  first_ = store::Seq{in.number()};
  opened_ = TimeMs{Millis{in.signed_number()}};
  last_arrival_ = TimeMs{Millis{in.signed_number()}};
  refused_ = in.number();
  left_out_ = in.number();
  ByteReader names(in.raw(in.count()));
  lineage_.load(names);
  if (!in.ok() || !names.ok() || names.left() > 0) return false;
  ByteReader notices(in.raw(in.count()));
  notices_.load(notices);
  if (!in.ok() || !notices.ok() || notices.left() > 0) return false;
  ByteReader moment(in.raw(in.count()));
  if (presence != nullptr) {
    load_moment(moment, *presence);
    if (!moment.ok() || moment.left() > 0) return false;
  }
  changed_ = true;
  check_at_ = TimeMs{};  // long due: earlier signs are checked again
  return in.ok() && job::load_job(in.raw(in.left()), state_).has_value();
}

bool LiveJob::is_suspect(TimeMs now, TimeMs seen_until) const {
  if (book_.is_suspect(now)) return true;
  return watch_.standing(seen_until).suspect && !watch_.is_over() && !book_.has_open();
}

JobRow LiveJob::row(TimeMs now, TimeMs seen_until) const {
  JobRow row;
  row.id = id();
  row.incident = book_.open_id();
  row.suspect = !ended() && is_suspect(now, seen_until);
  row.ended = ended();
  row.last_seen = last_arrival_;
  row.progress = watch_.progress().last();
  std::set<std::string_view> nodes, users;
  std::set<std::int32_t> ranks;
  const job::Stream* farthest = nullptr;
  const job::AgentSlice* farthest_agent = nullptr;
  for (const auto& [name, agent] : state_.agents())
    for (const auto& [source, stream] : agent.streams) {
      ++row.sources;
      nodes.insert(stream.source.node);
      if (!stream.source.user.empty()) users.insert(stream.source.user);
      if (stream.source.rank) ranks.insert(stream.source.rank->value());
      row.attempt = std::max(row.attempt, stream.source.attempt);
      keep_earliest(row.begin, stream.begin);
      if (stream.last_completed && !stream.counted &&
          (farthest == nullptr || *stream.last_completed > *farthest->last_completed)) {
        farthest = &stream;
        farthest_agent = &agent;
      }
    }
  if (farthest != nullptr) {
    row.iteration = farthest->printed(*farthest->last_completed);
    row.course_ms = job::newest_course(*farthest, farthest_agent->timers, kCourseMax);
  }
  for (const wire::Coverage& part : state_.coverage()) row.lines += part.lines;
  row.nodes = nodes.size();
  row.ranks = ranks.size();
  for (const std::string_view user : users)
    if (row.users.size() < kUsersMax) row.users.emplace_back(user);
  const job::RankCoverage coverage = job::rank_coverage(state_);
  row.ranks_mapped = coverage.mapped();
  row.ranks_expected = coverage.expected;
  if (report_) {
    row.attempt = report_->job.attempt;
    row.state = report_->verdict.state;
    row.confidence = report_->verdict.confidence;
    row.since = report_->verdict.since;
    row.stage = report_->verdict.stage;
    row.completeness = report_->job.completeness;
    row.notices = report_->notable.size();
    row.notice = notices_.newest();
    if (row.notice.empty() && row.notices > 0) row.notice = report_->notable.front().text;
    if (is_failure(row.state) && report_->verdict.iteration)
      row.iteration = report_->verdict.iteration;
  }
  return row;
}

store::JobRow LiveJob::stored_row() const {
  const JobRow now = row(last_arrival_, last_arrival_);
  store::JobRow row;
  row.id = id();
  row.begin = opened_;
  row.updated = last_arrival_;
  row.end = ended_;
  row.outcome = ended_ ? std::string(name(now.state)) : std::string();
  row.attempts = now.attempt + 1;
  row.nodes = static_cast<std::int64_t>(now.nodes);
  row.ranks = static_cast<std::int64_t>(now.ranks);
  row.lines = static_cast<std::int64_t>(now.lines);
  row.bytes = 0;
  for (const wire::Coverage& part : state_.coverage())
    row.bytes += static_cast<std::int64_t>(part.bytes.to - part.bytes.from);
  return row;
}

}  // namespace l4::scoring
