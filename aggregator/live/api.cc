#include "aggregator/live/api.h"

#include <charconv>
#include <utility>

#include "aggregator/http/routes.h"
#include "aggregator/serve/json_text.h"
#include "common/metrics/metrics.h"

namespace l4::live {
namespace {

using http::Reply;
using http::Request;
using http::Response;
using serve::JsonWriter;

Response json(JsonWriter& text) {
  return {200, "application/json", text.take() + '\n'};
}

Response busy() {
  return http::error_response(503, "busy", "too much waits for an answer; try again");
}

std::string_view query(const Request& request, std::string_view key) {
  for (const auto& [name, value] : request.query)
    if (name == key) return value;
  return {};
}

void text_or_null(JsonWriter& to, std::string_view key, std::string_view text) {
  to.key(key);
  text.empty() ? to.raw("null") : to.value(text);
}

void put(JsonWriter& to, const JobRow& row) {
  to.open('{').member("id", row.id).member("attempt", row.attempt);
  to.member("state", name(row.state)).member("suspect", row.suspect).member("ended", row.ended);
  to.member("since", row.since);
  text_or_null(to, "stage", row.stage == Stage::unknown ? std::string_view() : name(row.stage));
  to.member("iteration", row.iteration).member("nodes", row.nodes).member("ranks", row.ranks);
  to.member("sources", row.sources).member("lines", row.lines).member("begin", row.begin);
  to.member("last_seen", row.last_seen);
  text_or_null(to, "incident", row.incident);
  to.member("completeness", row.completeness).close('}');
}

void jobs(Aggregator& aggregator, const Reply& reply) {
  const bool asked = aggregator.jobs([reply](const std::vector<JobRow>& rows) {
    JsonWriter text;
    text.open('{').key("jobs").open('[');
    for (const JobRow& row : rows) put(text, row);
    text.close(']').key("next").raw("null").close('}');
    reply(json(text));
  });
  if (!asked) reply(busy());
}

void snapshot(Aggregator& aggregator, const std::string& job, const Reply& reply) {
  const bool asked = aggregator.snapshot(job, [reply, job](std::optional<std::string> report) {
    if (report) return reply({200, "application/json", std::move(*report)});
    reply(http::error_response(404, "not_found", "there is no job " + job));
  });
  if (!asked) reply(busy());
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

void healthz(Aggregator& aggregator, const Reply& reply) {
  const Health health = aggregator.health();
  JsonWriter text;
  text.open('{').member("status", health.reasons.empty() ? "ok" : "degraded");
  text.member("reasons", health.reasons).close('}');
  Response response = json(text);
  if (!health.reasons.empty()) response.status = 503;
  reply(std::move(response));
}

void figures(Aggregator& aggregator, const Reply& reply) {
  const bool asked = aggregator.counts([reply, health = aggregator.health()](const Counts& counts) {
    reply({200, metrics::Metrics::kContentType, render_metrics(counts, health)});
  });
  if (!asked) reply(busy());
}

void put(JsonWriter& to, const store::Incident& row) {
  to.open('{').member("id", row.id).member("job", row.job).member("attempt", row.attempt);
  to.member("status", row.resolved ? "resolved" : "open").member("state", row.state);
  to.member("opened", row.opened).member("updated", row.updated).member("resolved", row.resolved);
}

/// `?job=ID`, `?open=true`, `?count=N`, newest first; the reports are in the one of `?id=ID`.
Response incidents(Aggregator& aggregator, const Request& request) {
  constexpr std::size_t kCountMax = 1'000;
  JsonWriter text;
  text.open('{').key("incidents").open('[');
  if (const std::string_view id = query(request, "id"); !id.empty()) {
    const auto row = aggregator.incident(std::string(id));
    if (!row) return http::error_response(503, "database", row.error().text());
    if (!*row)
      return http::error_response(404, "not_found", "there is no incident " + std::string(id));
    put(text, **row);
    text.key("report").raw((*row)->report.empty() ? "null" : (*row)->report);
    text.key("evidence").raw((*row)->evidence.empty() ? "null" : (*row)->evidence).close('}');
  } else {
    store::IncidentQuery asked;
    asked.job = query(request, "job");
    asked.open_only = query(request, "open") == "true";
    const std::string_view count = query(request, "count");
    if (!count.empty()) {
      const auto [end, wrong] =
          std::from_chars(count.data(), count.data() + count.size(), asked.count);
      if (wrong != std::errc{} || end != count.data() + count.size() || asked.count > kCountMax)
        return http::error_response(400, "bad_request", "count must be a number up to 1000");
    }
    const auto rows = aggregator.incidents(asked);
    if (!rows) return http::error_response(503, "database", rows.error().text());
    for (const store::Incident& row : *rows) {
      put(text, row);
      text.close('}');
    }
  }
  text.close(']').close('}');
  return json(text);
}

}  // namespace

http::Handler make_handler(Aggregator& aggregator) {
  return [&aggregator](const Request& request, const Reply& reply) {
    const auto matched = http::match(request);
    if (!matched) return reply(matched.error());
    switch (matched->route) {
      case http::Route::jobs:
        return jobs(aggregator, reply);
      case http::Route::snapshot:
        return snapshot(aggregator, matched->arguments.at(0), reply);
      case http::Route::agents:
        return agents(aggregator, reply);
      case http::Route::incidents:
        return reply(incidents(aggregator, request));
      case http::Route::healthz:
        return healthz(aggregator, reply);
      case http::Route::metrics:
        return figures(aggregator, reply);
    }
    reply(http::error_response(404, "not_found", "there is nothing there"));
  };
}

}  // namespace l4::live
