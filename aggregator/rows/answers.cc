#include "aggregator/rows/answers.h"

namespace l4::rows {
namespace {

using serve::JsonWriter;

void text_or_null(JsonWriter& to, std::string_view key, std::string_view text) {
  to.key(key);
  text.empty() ? to.raw("null") : to.value(text);
}

void put_ids(JsonWriter& to, const std::vector<TemplateId>& ids) {
  to.open('[');
  for (const TemplateId id : ids) to.value(to_string(id));
  to.close(']');
}

}  // namespace

void put(JsonWriter& to, const scoring::JobRow& row) {
  to.open('{').member("id", row.id).member("attempt", row.attempt);
  to.member("state", l4::name(row.state)).member("suspect", row.suspect).member("ended", row.ended);
  to.member("since", row.since);
  text_or_null(to, "stage", row.stage == Stage::unknown ? std::string_view() : l4::name(row.stage));
  to.member("iteration", row.iteration).member("nodes", row.nodes).member("ranks", row.ranks);
  to.member("ranks_mapped", row.ranks_mapped).member("ranks_expected", row.ranks_expected);
  to.member("sources", row.sources).member("lines", row.lines).member("begin", row.begin);
  to.member("last_seen", row.last_seen);
  text_or_null(to, "incident", row.incident);
  to.member("completeness", row.completeness).close('}');
}

void put(JsonWriter& to, const NodeRow& row) {
  to.open('{').member("node", row.node).member("agents", row.agents).member("ranks", row.ranks);
  to.member("sources", row.sources).member("records", row.records);
  to.member("iteration", row.iteration).member("last_line", row.last_line);
  const diagnose::SuspectNode* suspect = row.suspect;
  to.member("score", suspect != nullptr ? suspect->score : 0.0);
  to.member("confidence", suspect != nullptr ? suspect->confidence : 0.0);
  to.member("why", suspect != nullptr ? suspect->why : std::vector<std::string>()).close('}');
}

void put(JsonWriter& to, const diagnose::ScoredIteration& iteration) {
  to.open('{').member("iteration", iteration.iteration).member("score", iteration.score);
  to.member("begin", iteration.begin).member("end", iteration.end);
  to.member("nodes", iteration.nodes).key("events");
  put_ids(to, iteration.events);
  to.close('}');
}

void put(JsonWriter& to, const receive::AgentView& agent) {
  to.open('{').member("agent", agent.agent).member("address", agent.address);
  to.member("software", agent.software).member("connected", agent.connected);
  to.member("lost", agent.lost).member("fleet_key", agent.fleet_key);
  to.member("files", agent.files).member("batches_in_flight", agent.batches_in_flight);
  to.member("batches_held", agent.batches_held).member("bytes_held", agent.bytes_held);
  to.member("shedding", wire::to_string(agent.shedding)).member("heard", agent.heard);
  to.key("offset_ms");
  agent.offset_known ? to.value(agent.offset.count()) : to.raw("null");
  to.key("delay_ms");
  agent.offset_known ? to.value(agent.delay.count()) : to.raw("null");
  to.close('}');
}

std::string snapshot_id(TimeMs at) {
  return "s" + std::to_string(at.time_since_epoch().count());
}

void put(JsonWriter& to, const store::Snapshot& row) {
  to.open('{').member("id", snapshot_id(row.at)).member("job", row.job).member("at", row.at);
  to.member("why", row.why).member("who", row.who).member("state", row.state).close('}');
}

void put(JsonWriter& to, const store::Incident& row, bool whole) {
  to.open('{').member("id", row.id).member("job", row.job).member("attempt", row.attempt);
  to.member("status", row.resolved ? "resolved" : "open").member("state", row.state);
  to.member("opened", row.opened).member("updated", row.updated).member("resolved", row.resolved);
  if (whole) {
    to.key("report").raw(row.report.empty() ? "null" : row.report);
    to.key("evidence").raw(row.evidence.empty() ? "null" : row.evidence);
  }
  to.close('}');
}

void put(JsonWriter& to, const faults::Fault& fault, bool whole) {
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
    to.member("accuses_peer", fault.accuses_peer).member("patterns", fault.patterns);
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
