#include "aggregator/api/snapshot_api.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "aggregator/api/pages.h"
#include "aggregator/api/replies.h"
#include "aggregator/rows/answers.h"
#include "aggregator/serve/json_object.h"
#include "common/base/time.h"

namespace l4::api {
namespace {

using http::Request;
using http::Response;
using serve::JsonWriter;

constexpr std::size_t kCount = 100;
constexpr TimeMs kEndOfTime{Millis{8'000'000'000'000'000}};

template <class T>
std::optional<T> number_of(std::string_view text) {
  T number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size() || number < 0) return {};
  return number;
}

/// The time in an id such as s1795363200000.
std::optional<TimeMs> time_of_id(std::string_view id) {
  if (!id.starts_with('s')) return {};
  const auto number = number_of<std::int64_t>(id.substr(1));
  return number ? std::optional(TimeMs{Millis{*number}}) : std::nullopt;
}

/// Lists the stored snapshots, behind a sentence about the missing one.
Response nothing(live::Aggregator& aggregator, const std::string& job, std::string_view code,
                 std::string sentence) {
  const auto rows = aggregator.database().snapshots(job, kEndOfTime, kCountMax);
  if (!rows) return refused_by_database(rows.error().text());
  sentence += rows->empty()
                  ? "; no snapshot of it was stored"
                  : fmt::format("; those that are stored ({}) are of {} to {}", rows->size(),
                                to_rfc3339(rows->back().at), to_rfc3339(rows->front().at));
  return http::error_response(404, code, sentence);
}

/// The body holds no field; it must be JSON so that pages of other sites cannot post it.
std::optional<Response> refused_body(const Request& request) {
  if (!is_json(request)) return not_json();
  auto body = serve::JsonObject::read(request.body);
  if (!body) return wrong("the body: " + body.error().text());
  if (const auto error = body->finish()) return wrong(error->text());
  return std::nullopt;
}

Response stored(live::Aggregator& aggregator, const std::string& job, TimeMs time,
                std::string_view id) {
  auto found = aggregator.database().snapshot(job, time);
  if (!found) return refused_by_database(found.error().text());
  if (*found && (*found)->at == time) return {200, "application/json", std::move((*found)->report)};
  return nothing(aggregator, job, "not_found",
                 fmt::format("there is no snapshot {} of job {}", id, job));
}

}  // namespace

Response list_snapshots(const RouteCall& call) {
  const std::size_t count = count_in(parameter(call.request, "count")).value_or(kCount);
  TimeMs before = kEndOfTime;
  if (const auto text = parameter(call.request, "before"); !text.empty()) {
    const auto given = time_of_id(text);
    if (!given) return wrong("before must be the id of a snapshot");
    before = *given;
  }
  auto rows = call.aggregator.database().snapshots(call.id, before, count + 1);
  if (!rows) return refused_by_database(rows.error().text());
  const bool more = rows->size() > count;
  if (more) rows->pop_back();
  JsonWriter text;
  text.open('{').key("snapshots").open('[');
  for (const store::Snapshot& row : *rows) rows::write(text, row);
  return finish(text.close(']'), more ? rows::snapshot_id(rows->back().at) : std::string());
}

void show_snapshot_at(const RouteCall& call, std::string_view at) {
  live::Aggregator& aggregator = call.aggregator;
  if (const auto exact = time_of_id(at)) return call.reply(stored(aggregator, call.id, *exact, at));
  const auto time = parse_time(at);
  if (!time)
    return call.reply(
        wrong("at must be the id of a snapshot, or a time such as 2026-11-20T15:54:42Z"));
  const bool asked = aggregator.past(
      call.id, *time, call.request.left,
      [&aggregator, job = call.id, reply = call.reply](past::PastAnswer found) {
        if (found) return reply({200, "application/json", *std::move(found)});
        past::PastProblem& problem = found.error();
        if (problem.status == 404)
          return reply(nothing(aggregator, job, problem.code, std::move(problem.message)));
        reply(http::error_response(problem.status, problem.code, problem.message));
      });
  if (!asked) call.reply(busy());
}

void store_snapshot(const RouteCall& call) {
  if (auto refused = refused_body(call.request)) return call.reply(std::move(*refused));
  const bool asked = call.aggregator.on_shard(
      call.id, [reply = call.reply, job = call.id, who = call.request.who](scoring::Shard& shard) {
        const scoring::LiveJob* found = shard.refresh(job);
        if (found == nullptr) return reply(nothing("job", job));
        const auto stored = shard.snapshot(*found, "asked", who);
        if (!stored) return reply(refused_by_database(stored.error().text()));
        JsonWriter text;
        rows::write(text, *stored);
        reply(json(text));
      });
  if (!asked) call.reply(busy());
}

}  // namespace l4::api
