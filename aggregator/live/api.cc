#include "aggregator/live/api.h"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "aggregator/http/routes.h"
#include "aggregator/live/answers.h"
#include "aggregator/live/fault_api.h"
#include "aggregator/live/lines_api.h"
#include "aggregator/live/pool_api.h"
#include "aggregator/live/replies.h"
#include "aggregator/live/snapshot_api.h"
#include "aggregator/serve/report_json.h"
#include "common/metrics/metrics.h"

namespace l4::live {
namespace {

using http::Reply;
using http::Request;
using http::Response;
using serve::JsonWriter;

constexpr std::size_t kCountMax = 1'000;

/// `?count=N`, or `otherwise`; more than `most` is none.
std::expected<std::size_t, Response> count_of(const Request& request, std::size_t otherwise) {
  const std::string_view text = query(request, "count");
  if (text.empty()) return otherwise;
  std::size_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed == std::errc{} && end == text.data() + text.size() && count <= kCountMax) return count;
  return std::unexpected(wrong("count must be a number up to 1000"));
}

/// All, by id; `?count=N` of them, those behind `?after=ID`.
void jobs(Aggregator& aggregator, const Request& request, const Reply& reply) {
  const auto count = count_of(request, std::numeric_limits<std::size_t>::max());
  if (!count) return reply(count.error());
  const std::string after(query(request, "after"));
  const bool asked = aggregator.jobs([reply, count = *count, after](const auto& rows) {
    JsonWriter text;
    text.open('{').key("jobs").open('[');
    std::size_t put_rows = 0;
    const JobRow* last = nullptr;
    bool more = false;
    for (const JobRow& row : rows) {
      if (!after.empty() && row.id <= after) continue;
      more = put_rows == count;
      if (more) break;
      put(text, row);
      last = &row;
      ++put_rows;
    }
    text.close(']').key("next");
    more&& last != nullptr ? text.value(last->id) : text.raw("null");
    text.close('}');
    reply(json(text));
  });
  if (!asked) reply(busy());
}

/// One job, in the form that `write` gives it. `anew`: as of now.
template <class Write>
void one_job(Aggregator& aggregator, const std::string& id, bool anew, const Reply& reply,
             const Write& write) {
  const bool asked =
      aggregator.job(id, anew, [reply, id, write](const LiveJob* job, const JobRow& row) {
        reply(job == nullptr ? nothing("job", id) : write(*job, row));
      });
  if (!asked) reply(busy());
}

Response job_row(const LiveJob&, const JobRow& row) {
  JsonWriter text;
  put(text, row);
  return json(text);
}

Response snapshot(const LiveJob& job, const JobRow&) {
  return {200, "application/json", job.report_json()};
}

Response nodes(const LiveJob& job, const JobRow& row) {
  JsonWriter text;
  text.open('{').member("job", row.id).member("attempt", row.attempt).key("nodes").open('[');
  const diagnose::Report* report = job.report() ? &*job.report() : nullptr;
  for (const NodeRow& node : node_rows(job.state(), report)) put(text, node);
  text.close(']').close('}');
  return json(text);
}

Response iterations(const LiveJob& job, const JobRow& row) {
  JsonWriter text;
  text.open('{').member("job", row.id).member("attempt", row.attempt);
  text.member("iteration", row.iteration).key("iterations").open('[');
  for (const diagnose::ScoredIteration& one : job.report()->iterations) put(text, one);
  text.close(']').close('}');
  return json(text);
}

void agents(Aggregator& aggregator, const Reply& reply) {
  const bool asked =
      aggregator.agents([reply](bool blind, const std::vector<receive::AgentView>& views) {
        JsonWriter text;
        text.open('{').member("blind", blind).key("agents").open('[');
        for (const receive::AgentView& view : views) put(text, view);
        text.close(']').close('}');
        reply(json(text));
      });
  if (!asked) reply(busy());
}

Response healthz(const Aggregator& aggregator) {
  const Health health = aggregator.health();
  JsonWriter text;
  text.open('{').member("status", health.reasons.empty() ? "ok" : "degraded");
  text.member("reasons", health.reasons).close('}');
  Response response = json(text);
  if (!health.reasons.empty()) response.status = 503;
  return response;
}

/// Whether agents and people can be served at all: what is merely degraded is ready.
Response readyz(const Aggregator& aggregator) {
  const Health health = aggregator.health();
  const bool ready = !health.journal && !health.stalled;
  JsonWriter text;
  text.open('{').member("status", ready ? "ready" : "not_ready");
  text.member("reasons", ready ? std::vector<std::string>() : health.reasons).close('}');
  Response response = json(text);
  if (!ready) response.status = 503;
  return response;
}

void figures(Aggregator& aggregator, const Reply& reply) {
  const bool asked = aggregator.counts([reply, health = aggregator.health()](const Counts& counts) {
    reply({200, metrics::Metrics::kContentType, render_metrics(counts, health)});
  });
  if (!asked) reply(busy());
}

/// With its report and evidence.
std::expected<store::Incident, Response> whole_incident(Aggregator& aggregator,
                                                        const std::string& id) {
  auto row = aggregator.incident(id);
  if (!row) return std::unexpected(refused_by_database(row.error().text()));
  if (!*row) return std::unexpected(nothing("incident", id));
  return std::move(**row);
}

Response incident(Aggregator& aggregator, const std::string& id) {
  const auto row = whole_incident(aggregator, id);
  if (!row) return row.error();
  JsonWriter text;
  put(text, *row, true);
  return json(text);
}

/// `?job=ID`, `?open=true`, `?count=N`, newest first; without their reports.
Response incidents(Aggregator& aggregator, const Request& request) {
  JsonWriter text;
  text.open('{').key("incidents").open('[');
  store::IncidentQuery asked;
  asked.job = query(request, "job");
  asked.open_only = query(request, "open") == "true";
  const auto count = count_of(request, asked.count);
  if (!count) return count.error();
  asked.count = *count;
  const auto rows = aggregator.incidents(asked);
  if (!rows) return refused_by_database(rows.error().text());
  for (const store::Incident& row : *rows) put(text, row, false);
  text.close(']').close('}');
  return json(text);
}

/// Of one job, or of all without an id.
Response follow(Aggregator& aggregator, const std::string& job, const Request& request) {
  auto stream = aggregator.events().open(job, request.last_event_id);
  if (!stream) return busy();
  return {200, "text/event-stream", {}, {}, std::move(stream)};
}

void follow_job(Aggregator& aggregator, const std::string& id, const Request& request,
                const Reply& reply) {
  const bool asked = aggregator.job(
      id, false, [&aggregator, reply, id, request](const LiveJob* job, const JobRow&) {
        reply(job == nullptr ? nothing("job", id) : follow(aggregator, id, request));
      });
  if (!asked) reply(busy());
}

}  // namespace

http::Handler make_handler(Aggregator& aggregator) {
  return [&aggregator](const Request& request, const Reply& reply) {
    const auto matched = http::match(request);
    if (!matched) return reply(matched.error());
    const std::string id = matched->arguments.empty() ? std::string() : matched->arguments[0];
    switch (matched->route) {
      case http::Route::jobs:
        return jobs(aggregator, request, reply);
      case http::Route::job:
        return one_job(aggregator, id, false, reply, job_row);
      case http::Route::snapshot:
        if (const auto at = query(request, "at"); !at.empty())
          return snapshot_at(aggregator, id, at, request.left, reply);
        return one_job(aggregator, id, true, reply, snapshot);
      case http::Route::snapshots:
        return reply(snapshot_list(aggregator, id, request));
      case http::Route::store_snapshot:
        return store_snapshot(aggregator, id, request, reply);
      case http::Route::nodes:
        return one_job(aggregator, id, true, reply, nodes);
      case http::Route::iterations:
        return one_job(aggregator, id, true, reply, iterations);
      case http::Route::lines:
        return answer_lines(aggregator, id, request, reply);
      case http::Route::agents:
        return agents(aggregator, reply);
      case http::Route::incidents:
        return reply(incidents(aggregator, request));
      case http::Route::incident:
        return reply(incident(aggregator, id));
      case http::Route::events:
        return reply(follow(aggregator, std::string(query(request, "job")), request));
      case http::Route::job_events:
        return follow_job(aggregator, id, request, reply);
      case http::Route::faults:
        return reply(fault_list(aggregator, request));
      case http::Route::fault:
        return reply(fault_of(aggregator, id));
      case http::Route::confirm_fault:
        return confirm_fault(aggregator, request, reply);
      case http::Route::drop_fault:
        return drop_fault(aggregator, request, id, reply);
      case http::Route::outcome:
        return tell_outcome(aggregator, request, id, reply);
      case http::Route::pool:
        return reply(pool_list(aggregator, request));
      case http::Route::pool_run:
        return reply(pool_run(aggregator, id));
      case http::Route::import_pool:
        return reply(import_pool(aggregator, request));
      case http::Route::drop_pool_run:
        return reply(drop_pool_run(aggregator, request, id));
      case http::Route::healthz:
        return reply(healthz(aggregator));
      case http::Route::readyz:
        return reply(readyz(aggregator));
      case http::Route::metrics:
        return figures(aggregator, reply);
    }
    reply(http::error_response(404, "not_found", "there is nothing there"));
  };
}

}  // namespace l4::live
