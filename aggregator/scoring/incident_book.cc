#include "aggregator/scoring/incident_book.h"

#include <fmt/format.h>

#include <algorithm>

#include "aggregator/serve/json_text.h"
#include "aggregator/serve/json_value.h"
#include "aggregator/serve/report_brief.h"
#include "aggregator/serve/report_json.h"
#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::scoring {
namespace {

constexpr std::size_t kAttemptsMax = 64, kTriggersMax = 32;
constexpr std::size_t kNodesTold = 8, kFaultsTold = 3;
constexpr std::size_t kHeadRows = 32;  // of each list of nodes
constexpr const char* kAtOpening = "report_at_opening";
constexpr double kFaultToldFrom = 0.3;  // an alert is routed by the category of its first fault

/// `opening`: the report at the opening; null: it is left out.
std::string evidence_of(const std::vector<watch::Trigger>& triggers, std::uint32_t openings,
                        const std::string& resolved_by, const std::string* opening) {
  serve::JsonWriter json;
  json.open('{').member("openings", openings);
  if (!resolved_by.empty()) json.member("resolved_by", resolved_by);
  json.key("triggers").open('[');
  for (const watch::Trigger& trigger : triggers) {
    json.open('{').member("cause", watch::name(trigger.cause)).member("evidence", trigger.evidence);
    json.member("node", trigger.node).member("rank", trigger.rank);
    json.member("detail", trigger.detail).close('}');
  }
  json.close(']');
  if (opening != nullptr) json.key(kAtOpening).raw(opening->empty() ? "null" : *opening);
  return json.close('}').release();
}

/// Stored evidence without the report at the opening.
std::string signs_in(const std::string& evidence) {
  auto json = serve::parse_json(evidence);
  if (!json || json->members() == nullptr) return {};
  std::erase_if(*json->members(), [](const auto& one) { return one.first == kAtOpening; });
  return serve::dump_json(*json);
}

/// How grave a state is: slow is least grave, hung is graver, a dead job is gravest. A graver state
/// is sent at once.
int gravity(State state) {
  switch (state) {
    case State::slow:
      return 1;
    case State::hung:
      return 2;
    case State::crashed:
    case State::node_lost:
    case State::launch_failed:
      return 3;
    default:
      return 0;
  }
}

alert::Alert alert_of(alert::Kind kind, const store::Incident& row, const diagnose::Report& report,
                      TimeMs now) {
  alert::Alert alert;
  alert.kind = kind;
  alert.at = now;
  alert.incident = row.id;
  alert.job = row.job;
  alert.attempt = static_cast<std::int32_t>(row.attempt);
  alert.state = report.verdict.state;
  alert.confidence = report.verdict.confidence;
  alert.since = report.verdict.since;
  alert.stage = report.verdict.stage;
  alert.iteration = report.verdict.iteration;
  alert.summary = report.verdict.summary;
  for (const diagnose::SuspectNode& node : report.nodes)
    if (alert.nodes.size() < kNodesTold) alert.nodes.push_back(node.node);
  for (const diagnose::SuspectRank& rank : report.ranks)
    if (rank.rank && alert.ranks.size() < kNodesTold) alert.ranks.push_back(*rank.rank);
  for (const diagnose::KnownFault& fault : report.faults)
    if (fault.id != diagnose::kUnknownFault && fault.confidence >= kFaultToldFrom &&
        alert.faults.size() < kFaultsTold)
      alert.faults.push_back({fault.id, fault.title, fault.fix, fault.cause, fault.category});
  return alert;
}

std::optional<State> failure_of(std::string_view word) {
  for (const State state :
       {State::crashed, State::hung, State::slow, State::node_lost, State::launch_failed})
    if (l4::name(state) == word) return state;
  return std::nullopt;
}

}  // namespace

store::IncidentHead head_of(const store::Incident& row) {
  const auto report = serve::report_from_json(row.report);
  return {report ? serve::brief_json(*report, kHeadRows) : std::string(), signs_in(row.evidence)};
}

std::optional<alert::Alert> standing_alert(const store::Incident& row) {
  const auto report = serve::report_from_json(row.report);
  const auto state = failure_of(row.state);
  if (!report || !state) return std::nullopt;
  alert::Alert alert = alert_of(alert::Kind::opened, row, *report, row.updated);
  alert.state = *state;
  return alert;
}

void IncidentBook::restore(const std::vector<store::Incident>& rows) {
  heard_ = false;
  for (const store::Incident& row : rows) {
    const auto attempt = static_cast<std::int32_t>(row.attempt);
    Entry& entry = entries_[attempt];
    if (!entry.row.id.empty() && entry.row.opened > row.opened) continue;
    entry.row = row;
    entry.restored_evidence = row.evidence;
    entry.open = !row.resolved;
    entry.openings = 1;
    entry.told_at = row.updated;
    entry.state =
        failure_of(row.told.state.empty() ? row.state : row.told.state).value_or(State::unknown);
    entry.gravest = gravity(entry.state);
    const auto report = serve::report_from_json(row.report);
    if (!report) continue;
    entry.row.head.brief = serve::brief_json(*report, kHeadRows);
    const store::Gist newest = gist_of(failure_of(row.state).value_or(State::unknown), *report);
    if (row.told.state.empty()) entry.row.told = newest;
    if (!entry.open || entry.row.told == newest) continue;
    entry.waits = options_.tells_soon;
    entry.owed_at = row.updated + entry.waits;
  }
}

void IncidentBook::triggered(const std::vector<watch::Trigger>& triggers, TimeMs now) {
  for (const watch::Trigger& trigger : triggers) {
    if (triggers_.size() < kTriggersMax) triggers_.push_back(trigger);
    using watch::Cause;
    const bool good = trigger.cause == Cause::ended || trigger.cause == Cause::went_on;
    if (!good) checked_until_ = now + options_.checks_for;
    if (trigger.cause == Cause::went_on) checked_until_.reset();
  }
}

bool IncidentBook::has_open() const {
  return std::ranges::any_of(entries_, [](const auto& one) { return one.second.open; });
}

std::optional<TimeMs> IncidentBook::owes_at() const {
  std::optional<TimeMs> first;
  for (const auto& [attempt, entry] : entries_) keep_earliest(first, entry.owed_at);
  return first;
}

std::vector<State> IncidentBook::open_states() const {
  std::vector<State> states;
  for (const auto& [attempt, entry] : entries_)
    if (entry.open) states.push_back(entry.state);
  return states;
}

std::string IncidentBook::open_id() const {
  for (auto at = entries_.rbegin(); at != entries_.rend(); ++at)
    if (at->second.open) return at->second.row.id;
  return {};
}

IncidentBook::Changes IncidentBook::diagnosed(const diagnose::Report& report, TimeMs now) {
  Changes changes;
  const std::int32_t current = report.job.attempt;
  const State state = report.verdict.state;
  // Attempts that failed between two reports and were followed by another attempt.
  for (const diagnose::AttemptSummary& attempt : report.job.attempts)
    if (attempt.attempt != current && is_failure(attempt.state) &&
        !entries_.contains(attempt.attempt) && attempt.state != State::slow)
      fails(attempt.attempt, attempt.state, attempt.since, report, now, changes);
  if (is_failure(state) && report.verdict.confidence >= options_.confidence_min) {
    fails(current, state, report.verdict.since, report, now, changes);
    checked_until_.reset();
  }
  well_ = state == State::healthy || state == State::finished;
  for (auto& [attempt, entry] : entries_) {
    if (!entry.open || !well_ || !heard_) continue;
    const std::string ended = state == State::finished ? "has ended well" : "goes on";
    resolve(entry, report,
            attempt == current ? "the job " + ended
                               : fmt::format("the job {} as attempt {}", ended, current),
            now, changes);
  }
  // The pending change was not sent: it is another attempt's, or this report says too little. It is
  // not retried at once.
  for (auto& [attempt, entry] : entries_)
    if (entry.owed_at && *entry.owed_at <= now) entry.owed_at = now + options_.tells_every;
  if (state == State::finished) checked_until_.reset();
  if (!is_checked(now)) triggers_.clear();  // while checked, an incident may still begin with them
  while (entries_.size() > kAttemptsMax) entries_.erase(entries_.begin());
  return changes;
}

store::Gist IncidentBook::gist_of(State state, const diagnose::Report& report) {
  store::Gist gist;
  gist.state = l4::name(state);
  if (!report.nodes.empty()) gist.node = report.nodes[0].node;
  if (!report.faults.empty()) gist.fault = report.faults[0].id;
  if (!report.ranks.empty() && report.ranks[0].rank) gist.rank = report.ranks[0].rank->value();
  return gist;
}

void IncidentBook::fails(std::int32_t attempt, State state, std::optional<TimeMs> since,
                         const diagnose::Report& report, TimeMs now, Changes& changes) {
  L4_CHECK(is_failure(state), "attempt {} of {} fails as {}", attempt, job_, l4::name(state));
  const auto [at, fresh] = entries_.try_emplace(attempt);
  Entry& entry = at->second;
  store::Incident& row = entry.row;
  if (fresh) {
    row.id = fmt::format(
        "{}.{}.{}", job_, attempt,
        std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
    row.job = job_;
    row.source = source_;
    row.attempt = attempt;
    row.opened = now;
  }
  for (const watch::Trigger& trigger : triggers_)
    if (entry.triggers.size() < kTriggersMax) entry.triggers.push_back(trigger);
  row.state = l4::name(state);
  row.updated = now;
  row.resolved.reset();
  row.report = serve::to_json(report);
  row.head.brief = serve::brief_json(report, kHeadRows);
  store::Gist gist = gist_of(state, report);
  const bool opens = !entry.open;
  entry.owed_at.reset();
  if (opens) {
    entry.open = true;
    entry.resolved_by.clear();
    entry.gravest = 0;
    ++entry.openings;
    if (entry.opening.empty()) entry.opening = row.report;
  }
  const bool worse = gravity(state) > entry.gravest;
  const TimeMs next = entry.told_at + std::min(entry.waits, options_.tells_every);
  if (!opens && !worse && gist != row.told && now < next) {
    entry.owed_at = next;
  } else if (opens || gist != row.told) {
    alert::Alert told =
        alert_of(opens ? alert::Kind::opened : alert::Kind::changed, entry.row, report, now);
    told.state = state;
    told.since = since;
    changes.alerts.push_back(std::move(told));
    row.told = std::move(gist);
    entry.state = state;
    entry.gravest = std::max(entry.gravest, gravity(state));
    entry.told_at = now;
    entry.waits = opens ? options_.tells_soon : 2 * std::min(entry.waits, options_.tells_every);
  }
  write(entry, changes);
}

void IncidentBook::resolve(Entry& entry, const diagnose::Report& report, const std::string& why,
                           TimeMs now, Changes& changes) {
  L4_CHECK(entry.open, "incident {} is resolved twice", entry.row.id);
  entry.open = false;
  entry.owed_at.reset();
  entry.row.resolved = now;
  entry.row.updated = now;
  entry.resolved_by = why;
  alert::Alert told = alert_of(alert::Kind::resolved, entry.row, report, now);
  told.state = entry.state;
  told.summary = why;
  changes.alerts.push_back(std::move(told));
  entry.told_at = now;
  write(entry, changes);
}

/// Adds the row of the incident. The row keeps the report from the time when the incident was open.
void IncidentBook::write(Entry& entry, Changes& changes) const {
  store::Incident& row = entry.row;
  if (entry.restored_evidence.empty()) {
    row.evidence = evidence_of(entry.triggers, entry.openings, entry.resolved_by, &entry.opening);
    row.head.evidence = evidence_of(entry.triggers, entry.openings, entry.resolved_by, nullptr);
  } else {
    row.evidence = entry.restored_evidence;
    if (row.head.evidence.empty()) row.head.evidence = signs_in(row.evidence);
  }
  changes.rows.push_back(entry.row);
}

}  // namespace l4::scoring
