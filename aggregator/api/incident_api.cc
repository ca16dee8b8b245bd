#include "aggregator/api/incident_api.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "aggregator/api/fault_api.h"
#include "aggregator/api/pages.h"
#include "aggregator/api/replies.h"
#include "aggregator/faults/library.h"
#include "aggregator/rows/answers.h"
#include "aggregator/rows/near_rows.h"
#include "aggregator/scoring/incident_book.h"
#include "aggregator/serve/report_brief.h"

namespace l4::api {
namespace {

using http::Response;
using serve::JsonWriter;

/// MILLISECONDS.ID
std::string name_of(const store::Incident& row) {
  return std::to_string(row.opened.time_since_epoch().count()) + "." + row.id;
}

std::optional<store::IncidentCursor> place_of(std::string_view name) {
  std::int64_t opened = 0;
  const char* const end = name.data() + name.size();
  const auto [at, failed] = std::from_chars(name.data(), end, opened);
  if (failed != std::errc{} || at == end || *at != '.' || at + 1 == end) return std::nullopt;
  return store::IncidentCursor{TimeMs{Millis{opened}}, std::string(at + 1, end)};
}

using Found = Result<std::optional<store::Incident>>;

/// The incident that was found, if it is of a job that the token may see.
std::expected<store::Incident, Response> visible(const RouteCall& call, Found row) {
  if (!row) return std::unexpected(refused_by_database(row.error().text()));
  if (!*row || !call.request.jobs.includes((*row)->job))
    return std::unexpected(nothing("incident", call.id));
  return std::move(**row);
}

/// With its head, which is made now if an earlier version stored it.
std::expected<store::Incident, Response> incident_with_head(const RouteCall& call) {
  auto row = asked_incident(call);
  if (!row || !row->head.brief.empty()) return row;
  auto whole = visible(call, call.aggregator.incident(call.id));
  if (whole) whole->head = scoring::head_of(*whole);
  return whole;
}

/// Up to `count` incidents of the jobs that may be seen.
Result<std::vector<store::Incident>> incidents_of(const RouteCall& call, store::IncidentQuery query,
                                                  std::size_t count) {
  const http::JobLimit& limit = call.request.jobs;
  query.count = limit.is_limited() ? kCountMax : count;
  std::vector<store::Incident> found;
  for (bool more = true; more && found.size() < count;) {
    auto rows = call.aggregator.incidents(query);
    if (!rows || !limit.is_limited()) return rows;
    more = rows->size() == query.count;
    if (more) query.before = store::IncidentCursor{rows->back().opened, rows->back().id};
    for (store::Incident& row : *rows)
      if (limit.includes(row.job) && found.size() < count) found.push_back(std::move(row));
  }
  return found;
}

}  // namespace

Response list_incidents(const RouteCall& call) {
  store::IncidentQuery asked;
  asked.job = parameter(call.request, "job");
  asked.fault = parameter(call.request, "fault");
  asked.node = parameter(call.request, "node");
  asked.open_only = parameter(call.request, "open") == "true";
  asked.with_reports = false;
  const PageQuery page = page_query(call.request);
  const std::size_t count = page.count > kCountMax ? asked.count : page.count;
  if (!page.after.empty()) {
    asked.before = place_of(page.after);
    if (!asked.before) return wrong("after must be `next` of the answer before");
  }
  auto rows = incidents_of(call, asked, count + 1);
  if (!rows) return refused_by_database(rows.error().text());
  const bool more = rows->size() > count;
  if (more) rows->pop_back();
  JsonWriter text;
  text.open('{').key("incidents").open('[');
  const alert::QuietBook& quiet = call.aggregator.quiet();
  const TimeMs now = call.aggregator.now();
  for (const store::Incident& row : *rows)
    rows::write(text, row, false, rows::notes_of(quiet, row, now));
  return finish(text.close(']'), more ? name_of(rows->back()) : std::string());
}

std::expected<store::Incident, Response> asked_incident(const RouteCall& call) {
  return visible(call, call.aggregator.incident_head(call.id));
}

std::expected<store::Incident, Response> asked_incident_with_report(const RouteCall& call) {
  return visible(call, call.aggregator.incident(call.id));
}

Response show_incident(const RouteCall& call) {
  const auto row = asked_incident_with_report(call);
  if (!row) return row.error();
  JsonWriter text;
  rows::write(text, *row, true,
              rows::notes_of(call.aggregator.quiet(), *row, call.aggregator.now()));
  return json(text);
}

Response show_incident_brief(const RouteCall& call) {
  const auto row = incident_with_head(call);
  if (!row) return row.error();
  JsonWriter text;
  text.open('{').key("incident");
  rows::write(text, *row, false,
              rows::notes_of(call.aggregator.quiet(), *row, call.aggregator.now()));
  const auto& [brief, evidence] = row->head;
  text.key("brief").raw(brief.empty() ? "null" : brief);
  text.key("evidence").raw(evidence.empty() ? "null" : evidence).close('}');
  return json(text);
}

Response list_near_faults(const RouteCall& call) {
  const auto row = incident_with_head(call);
  if (!row) return row.error();
  const auto library = call.aggregator.library();
  const auto report = serve::report_in_brief(row->head.brief);
  JsonWriter text;
  rows::write_near_faults(text, report, *library,
                          [&](const faults::Fault& fault) { return may_see_fault(call, fault); });
  return json(text);
}

}  // namespace l4::api
