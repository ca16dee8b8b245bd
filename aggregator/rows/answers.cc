#include "aggregator/rows/answers.h"

#include <cmath>
#include <optional>
#include <type_traits>

#include "aggregator/rows/fields.h"

namespace l4::rows {
namespace {

using serve::JsonWriter;

template <class Row>
void write_fields(JsonWriter& to, const Row& row) {
  for_each_field(row, [&](const auto& field, const auto& value) {
    to.key(field.name);
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
      if (value.empty() && may_be_null(field.absent)) {
        to.raw("null");
        return;
      }
    to.value(value);
  });
}

template <class Row>
void write_row(JsonWriter& to, const Row& row) {
  write_fields(to.open('{'), row);
  to.close('}');
}

std::optional<std::int64_t> number_of(const std::optional<Iteration>& iteration) {
  return iteration ? std::optional<std::int64_t>(iteration->value()) : std::nullopt;
}

}  // namespace

JobNotes notes_of(const alert::QuietBook& quiet, const scoring::JobRow& row, TimeMs now) {
  JobNotes notes;
  if (!row.incident.empty())
    if (const auto told = quiet.acknowledgement(row.incident)) notes.acknowledged_by = told->who;
  if (const auto maintenance = quiet.of_job(row.id, now)) notes.silent_until = maintenance->until;
  return notes;
}

IncidentNotes notes_of(const alert::QuietBook& quiet, const store::Incident& row, TimeMs now) {
  IncidentNotes notes{quiet.acknowledgement(row.id), quiet.held(row.id)};
  if (!notes.maintenance && !row.resolved) notes.maintenance = quiet.of_job(row.job, now);
  return notes;
}

void write(JsonWriter& to, const scoring::JobRow& row, const JobNotes& notes) {
  JobFields fields;
  fields.id = row.id;
  fields.attempt = row.attempt;
  fields.state = l4::name(row.state);
  fields.confidence = row.confidence;
  fields.suspect = row.suspect;
  fields.ended = row.ended;
  fields.since = row.since;
  if (row.stage != Stage::unknown) fields.stage = l4::name(row.stage);
  fields.iteration = number_of(row.iteration);
  for (const double ms : row.course_ms) fields.course_ms.push_back(std::round(ms * 10) / 10);
  fields.nodes = row.nodes;
  fields.ranks = row.ranks;
  fields.ranks_mapped = row.ranks_mapped;
  fields.ranks_expected = row.ranks_expected;
  fields.users = row.users;
  fields.sources = row.sources;
  fields.lines = row.lines;
  fields.begin = row.begin;
  fields.last_seen = row.last_seen;
  fields.incident = row.incident;
  fields.completeness = row.completeness;
  fields.notices = row.notices;
  fields.notice = row.notice;
  fields.acknowledged_by = notes.acknowledged_by;
  fields.silent_until = notes.silent_until;
  write_row(to, fields);
}

void write(JsonWriter& to, const NodeRow& row, std::optional<TimeMs> silent_until) {
  NodeFields fields;
  fields.silent_until = silent_until;
  fields.node = row.node;
  fields.agents = row.agents;
  for (const Rank rank : row.ranks) fields.ranks.push_back(rank.value());
  fields.sources = row.sources;
  fields.records = row.records;
  fields.iteration = number_of(row.iteration);
  fields.last_line = row.last_line;
  if (row.suspect != nullptr) {
    fields.score = row.suspect->score;
    fields.confidence = row.suspect->confidence;
    fields.why = row.suspect->why;
  }
  write_row(to, fields);
}

void write(JsonWriter& to, const diagnose::ScoredIteration& iteration) {
  IterationFields fields{iteration.iteration.value(),
                         iteration.score,
                         iteration.begin,
                         iteration.end,
                         iteration.nodes,
                         {}};
  for (const TemplateId id : iteration.events) fields.events.push_back(to_string(id));
  write_row(to, fields);
}

void write(JsonWriter& to, const receive::AgentView& agent) {
  AgentFields fields;
  fields.agent = agent.agent;
  fields.address = agent.address;
  fields.software = agent.software;
  fields.connected = agent.connected;
  fields.lost = agent.lost;
  fields.fleet_key = agent.fleet_key;
  fields.files = agent.files;
  fields.batches_in_flight = agent.batches_in_flight;
  fields.batches_held = agent.batches_held;
  fields.bytes_held = agent.bytes_held;
  fields.shedding = wire::to_string(agent.shedding);
  fields.hints = agent.hints;
  fields.heard = agent.heard;
  if (agent.offset_known) {
    fields.offset_ms = agent.offset.count();
    fields.delay_ms = agent.delay.count();
  }
  write_row(to, fields);
}

void write(JsonWriter& to, const alert::SinkStats& sink) {
  SinkFields fields{sink.sink,     sink.kind,    sink.trouble, sink.posted,
                    sink.failures, sink.dropped, sink.waiting, sink.tried};
  write_row(to, fields);
}

void write(JsonWriter& to, const alert::TrialRow& row) {
  write_row(to,
            SinkTestFields{row.sink, row.kind, row.why_not, row.took,
                           static_cast<std::uint64_t>(std::max(row.lasted, Millis{0}).count())});
}

void write(JsonWriter& to, const alert::Delivery& row) {
  DeliveryFields fields;
  fields.id = row.id;
  fields.sink = row.sink;
  fields.status = alert::name(row.status);
  fields.event = row.event;
  fields.incident = row.incident;
  fields.job = row.job;
  fields.text = row.line;
  fields.trouble = row.trouble;
  fields.created = row.created;
  fields.tried = row.tried;
  fields.next = row.next;
  fields.failures = static_cast<std::uint64_t>(row.failures);
  fields.taken = static_cast<std::uint64_t>(row.taken);
  write_row(to, fields);
}

void write_members(JsonWriter& to, const StatusFields& fields) {
  write_fields(to, fields);
}

std::string snapshot_id(TimeMs at) {
  return "s" + std::to_string(at.time_since_epoch().count());
}

void write(JsonWriter& to, const store::Snapshot& row) {
  write_row(to, SnapshotFields{snapshot_id(row.at), row.job, row.why, row.who, row.state, row.at});
}

void write(JsonWriter& to, const store::Maintenance& row, std::uint64_t incidents, TimeMs now) {
  MaintenanceFields fields;
  fields.id = alert::maintenance_name(row.id);
  fields.kind = row.kind;
  fields.pattern = row.pattern;
  fields.who = row.who;
  fields.why = row.why;
  fields.began = row.began;
  fields.until = row.until;
  fields.ended_by = row.ended_by;
  fields.ended = row.ended;
  fields.active = !row.is_over(now);
  fields.incidents = incidents;
  write_row(to, fields);
}

void write(JsonWriter& to, const store::Incident& row, bool whole, const IncidentNotes& notes) {
  to.open('{');
  IncidentFields fields;
  fields.id = row.id;
  fields.job = row.job;
  fields.status = row.resolved ? "resolved" : "open";
  fields.state = row.state;
  fields.attempt = row.attempt;
  fields.opened = row.opened;
  fields.updated = row.updated;
  fields.resolved = row.resolved;
  if (const auto& told = notes.acknowledged) {
    fields.acknowledged_by = told->who;
    fields.acknowledged_at = told->at;
    fields.acknowledged_note = told->note;
  }
  if (notes.maintenance) fields.maintenance = alert::maintenance_name(notes.maintenance->id);
  write_fields(to, fields);
  if (whole) {
    to.key("report").raw(row.report.empty() ? "null" : row.report);
    to.key("evidence").raw(row.evidence.empty() ? "null" : row.evidence);
  }
  to.close('}');
}

void write(JsonWriter& to, const faults::Fault& fault, bool whole) {
  to.open('{').member("id", fault.id).member("title", fault.title);
  to.member("family", fault.family).member("category", faults::name(fault.category));
  to.member("subcategory", fault.subcategory).member("scope", l4::name(fault.scope));
  to.member("severity", l4::name(fault.severity)).member("consequence", fault.consequence);
  to.key("confirmed");
  if (const auto& by = fault.confirmed)
    to.open('{')
        .member("by", by->by)
        .member("at", by->at)
        .member("incident", by->incident)
        .close('}');
  else
    to.raw("null");
  if (whole) {
    to.member("timeout", fault.timeout).member("setup", fault.setup);
    to.member("accuses_peer", fault.accuses_peer).member("general", fault.general);
    to.member("stopped_by", fault.stopped_by);
    to.member("patterns", fault.patterns);
    to.member("unless", fault.unless).key("parameters").open('{');
    for (const faults::Condition& condition : fault.conditions)
      to.member(faults::name(condition.kind), condition.values);
    to.close('}').member("cause", fault.cause).member("fix", fault.fix);
    to.member("action", fault.action).member("matches", fault.matches);
    to.member("rejects", fault.rejects);
  }
  to.close('}');
}

}  // namespace l4::rows
