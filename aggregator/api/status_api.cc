#include "aggregator/api/status_api.h"

#include <functional>
#include <utility>

#include "aggregator/api/metrics.h"
#include "aggregator/api/pages.h"
#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/rows/answers.h"
#include "common/metrics/metrics.h"

namespace l4::api {
namespace {

using http::Response;
using serve::JsonWriter;

/// Streams the events of one job, or, if no id is given, of all jobs that may be seen.
Response event_stream(live::Aggregator& aggregator, const std::string& job,
                      const http::JobLimit& jobs, std::string_view last_event_id) {
  auto stream = aggregator.events().open({job, jobs}, last_event_id);
  if (!stream) return busy();
  return {200, "text/event-stream", {}, {}, std::move(stream)};
}

}  // namespace

void list_agents(const RouteCall& call) {
  PageQuery page = page_query(call.request);
  page.sorted = true;
  using receive::AgentView;
  const bool asked = call.aggregator.agents(
      [reply = call.reply, page](bool blind, const std::vector<AgentView>& views) {
        JsonWriter text;
        text.open('{').member("blind", blind).key("agents").open('[');
        const auto next =
            write_page(views, page, std::mem_fn(&AgentView::agent), [&](const AgentView& view) {
              rows::write(text, view);
              return text.size();
            });
        if (!next) return reply(next.error());
        reply(finish(text.close(']'), *next));
      });
  if (!asked) call.reply(busy());
}

Response show_health(const RouteCall& call) {
  const live::Health health = call.aggregator.health();
  JsonWriter text;
  text.open('{').member("status", health.reasons.empty() ? "ok" : "degraded");
  text.member("reasons", health.reasons).close('}');
  return json(text, health.reasons.empty() ? 200 : 503);
}

void show_status(const RouteCall& call) {
  const bool asked = call.aggregator.status([reply = call.reply](const live::Status& status) {
    const auto bytes = [](std::optional<std::uint64_t> value) {
      return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
    };
    rows::StatusFields fields;
    fields.software = status.software;
    fields.started = status.started;
    fields.now = status.now;
    fields.status = status.health.reasons.empty() ? "ok" : "degraded";
    fields.reasons = status.health.reasons;
    fields.folder = status.folder;
    fields.disk_bytes = bytes(status.disk_bytes);
    fields.disk_free_bytes = bytes(status.disk_free_bytes);
    fields.journal_bytes = status.journal_bytes;
    fields.journal_bytes_max = status.journal_bytes_max;
    fields.agents_known = status.fleet.agents;
    fields.agents_connected = status.fleet.connected;
    fields.agents_lost = status.fleet.lost;
    fields.lost_after_ms = static_cast<std::uint64_t>(status.lost_after.count());
    JsonWriter text;
    rows::write_members(text.open('{'), fields);
    text.member("absent", status.absent).key("sinks").open('[');
    for (const alert::SinkStats& sink : status.sinks) rows::write(text, sink);
    text.close(']').close('}');
    reply(json(text));
  });
  if (!asked) call.reply(busy());
}

Response show_readiness(const RouteCall& call) {
  const live::Health health = call.aggregator.health();
  const bool ready = !health.journal && !health.stalled;
  JsonWriter text;
  text.open('{').member("status", ready ? "ready" : "not_ready");
  text.member("reasons", ready ? std::vector<std::string>() : health.reasons).close('}');
  return json(text, ready ? 200 : 503);
}

void show_metrics(const RouteCall& call) {
  const bool asked = call.aggregator.counts(
      [reply = call.reply, counters = call.counters, limit = call.request.jobs,
       health = call.aggregator.health()](const live::Counts& counts) {
        if (limit.is_limited())
          return reply({200, metrics::Metrics::kContentType, render_job_metrics(counts, limit)});
        const auto http = counters ? counters->now() : http::ServerCounts{};
        reply({200, metrics::Metrics::kContentType, render_metrics(counts, health, http)});
      });
  if (!asked) call.reply(busy());
}

Response follow_events(const RouteCall& call) {
  const std::string job(parameter(call.request, "job"));
  if (!job.empty() && !call.request.jobs.includes(job)) return nothing("job", job);
  return event_stream(call.aggregator, job, call.request.jobs, call.request.last_event_id);
}

void follow_job(const RouteCall& call) {
  const bool asked = call.aggregator.job(
      call.id, live::ReportAge::none,
      [&aggregator = call.aggregator, reply = call.reply, id = call.id, jobs = call.request.jobs,
       last = call.request.last_event_id](const scoring::LiveJob* job, const scoring::Shard&) {
        reply(job == nullptr ? nothing("job", id) : event_stream(aggregator, id, jobs, last));
      });
  if (!asked) call.reply(busy());
}

}  // namespace l4::api
