#include "aggregator/api/api.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "aggregator/api/fault_api.h"
#include "aggregator/api/incident_api.h"
#include "aggregator/api/lines_api.h"
#include "aggregator/api/pages.h"
#include "aggregator/api/pool_api.h"
#include "aggregator/api/replies.h"
#include "aggregator/api/snapshot_api.h"
#include "aggregator/http/parameters.h"
#include "aggregator/http/routes.h"
#include "aggregator/rows/answers.h"
#include "aggregator/serve/report_json.h"
#include "common/metrics/metrics.h"

namespace l4::api {
namespace {

using http::Reply;
using http::Request;
using http::Response;
using scoring::JobRow;
using scoring::LiveJob;
using serve::JsonWriter;

/// By id.
void jobs(live::Aggregator& aggregator, const Request& request, const Reply& reply) {
  PageQuery page = page_query(request);
  page.sorted = true;
  const bool asked = aggregator.jobs([reply, page](const std::vector<JobRow>& rows) {
    JsonWriter text;
    text.open('{').key("jobs").open('[');
    const auto next = put_page(rows, page, std::mem_fn(&JobRow::id), [&](const JobRow& row) {
      rows::put(text, row);
      return text.size();
    });
    if (!next) return reply(next.error());
    reply(finish(text.close(']'), *next));
  });
  if (!asked) reply(busy());
}

/// One job, in the form that `write` gives it. `anew`: as of now.
template <class Write>
void one_job(live::Aggregator& aggregator, const std::string& id, bool anew, const Reply& reply,
             const Write& write) {
  const bool asked =
      aggregator.job(id, anew, [reply, id, write](const LiveJob* job, const JobRow& row) {
        reply(job == nullptr ? nothing("job", id) : write(*job, row));
      });
  if (!asked) reply(busy());
}

Response job_row(const LiveJob&, const JobRow& row) {
  JsonWriter text;
  rows::put(text, row);
  return json(text);
}

Response snapshot(const LiveJob& job, const JobRow&) {
  return {200, "application/json", job.report_json()};
}

Response nodes(const LiveJob& job, const JobRow& row, const PageQuery& page) {
  JsonWriter text;
  text.open('{').member("job", row.id).member("attempt", row.attempt).key("nodes").open('[');
  const diagnose::Report* report = job.report() ? &*job.report() : nullptr;
  const auto next = put_page(rows::node_rows(job.state(), report), page,
                             std::mem_fn(&rows::NodeRow::node), [&](const rows::NodeRow& node) {
                               rows::put(text, node);
                               return text.size();
                             });
  return next ? finish(text.close(']'), *next) : next.error();
}

Response iterations(const LiveJob& job, const JobRow& row, const PageQuery& page) {
  JsonWriter text;
  text.open('{').member("job", row.id).member("attempt", row.attempt);
  text.member("iteration", row.iteration).key("iterations").open('[');
  using Scored = diagnose::ScoredIteration;
  const auto name = [](const Scored& one) { return fmt::format("{}", one.iteration.value()); };
  const auto next = put_page(job.report()->iterations, page, name, [&](const Scored& one) {
    rows::put(text, one);
    return text.size();
  });
  return next ? finish(text.close(']'), *next) : next.error();
}

/// By name.
void agents(live::Aggregator& aggregator, const Request& request, const Reply& reply) {
  PageQuery page = page_query(request);
  page.sorted = true;
  using receive::AgentView;
  const bool asked =
      aggregator.agents([reply, page](bool blind, const std::vector<AgentView>& views) {
        JsonWriter text;
        text.open('{').member("blind", blind).key("agents").open('[');
        const auto next =
            put_page(views, page, std::mem_fn(&AgentView::agent), [&](const AgentView& view) {
              rows::put(text, view);
              return text.size();
            });
        if (!next) return reply(next.error());
        reply(finish(text.close(']'), *next));
      });
  if (!asked) reply(busy());
}

Response healthz(const live::Aggregator& aggregator) {
  const live::Health health = aggregator.health();
  JsonWriter text;
  text.open('{').member("status", health.reasons.empty() ? "ok" : "degraded");
  text.member("reasons", health.reasons).close('}');
  Response response = json(text);
  if (!health.reasons.empty()) response.status = 503;
  return response;
}

/// Whether agents and people can be served at all: what is merely degraded is ready.
Response readyz(const live::Aggregator& aggregator) {
  const live::Health health = aggregator.health();
  const bool ready = !health.journal && !health.stalled;
  JsonWriter text;
  text.open('{').member("status", ready ? "ready" : "not_ready");
  text.member("reasons", ready ? std::vector<std::string>() : health.reasons).close('}');
  Response response = json(text);
  if (!ready) response.status = 503;
  return response;
}

using CountersPointer = std::shared_ptr<const http::Counters>;

void figures(live::Aggregator& aggregator, const CountersPointer& counters, const Reply& reply) {
  const bool asked = aggregator.counts(
      [reply, counters, health = aggregator.health()](const live::Counts& counts) {
        const auto http = counters ? counters->now() : http::ServerCounts{};
        reply({200, metrics::Metrics::kContentType, render_metrics(counts, health, http)});
      });
  if (!asked) reply(busy());
}

/// Of one job, or of all without an id.
Response follow(live::Aggregator& aggregator, const std::string& job, const Request& request) {
  auto stream = aggregator.events().open(job, request.last_event_id);
  if (!stream) return busy();
  return {200, "text/event-stream", {}, {}, std::move(stream)};
}

void follow_job(live::Aggregator& aggregator, const std::string& id, const Request& request,
                const Reply& reply) {
  const bool asked = aggregator.job(
      id, false, [&aggregator, reply, id, request](const LiveJob* job, const JobRow&) {
        reply(job == nullptr ? nothing("job", id) : follow(aggregator, id, request));
      });
  if (!asked) reply(busy());
}

}  // namespace

http::Handler make_handler(live::Aggregator& aggregator, CountersPointer counters) {
  return [&aggregator, counters = std::move(counters)](const Request& request, const Reply& reply) {
    const auto matched = http::match(request);
    if (!matched) return reply(matched.error());
    if (auto wrong = http::refused_parameter(matched->route, request))
      return reply(std::move(*wrong));
    const std::string id = matched->arguments.empty() ? std::string() : matched->arguments[0];
    switch (matched->route) {
      case http::Route::jobs:
        return jobs(aggregator, request, reply);
      case http::Route::job:
        return one_job(aggregator, id, false, reply, job_row);
      case http::Route::snapshot:
        if (const auto at = http::parameter(request, "at"); !at.empty())
          return snapshot_at(aggregator, id, at, request.left, reply);
        return one_job(aggregator, id, true, reply, snapshot);
      case http::Route::snapshots:
        return reply(snapshot_list(aggregator, id, request));
      case http::Route::store_snapshot:
        return store_snapshot(aggregator, id, request, reply);
      case http::Route::nodes:
        return one_job(aggregator, id, true, reply,
                       [page = page_query(request)](const LiveJob& job, const JobRow& row) {
                         return nodes(job, row, page);
                       });
      case http::Route::iterations:
        return one_job(aggregator, id, true, reply,
                       [page = page_query(request)](const LiveJob& job, const JobRow& row) {
                         return iterations(job, row, page);
                       });
      case http::Route::lines:
        return answer_lines(aggregator, id, request, reply);
      case http::Route::agents:
        return agents(aggregator, request, reply);
      case http::Route::incidents:
        return reply(incident_list(aggregator, request));
      case http::Route::incident:
        return reply(incident_of(aggregator, id));
      case http::Route::events:
        return reply(follow(aggregator, std::string(http::parameter(request, "job")), request));
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
        return figures(aggregator, counters, reply);
    }
    reply(http::error_response(404, "not_found", "there is nothing there"));
  };
}

}  // namespace l4::api
