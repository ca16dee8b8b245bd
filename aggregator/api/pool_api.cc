#include "aggregator/api/pool_api.h"

#include <utility>

#include "aggregator/api/pages.h"
#include "aggregator/api/replies.h"
#include "aggregator/pool/run_json.h"
#include "aggregator/serve/json_object.h"
#include "aggregator/serve/json_text.h"

namespace l4::api {
namespace {

using http::Response;
using serve::JsonWriter;

constexpr std::size_t kNoteBytesMax = 500;

Response no_run(const std::string& run) {
  return http::error_response(404, "not_found", "there is no run " + run + " in the pool");
}

Response answer(const confirm::OutcomeDone& done) {
  JsonWriter text;
  text.open('{').member("job", done.outcome.job).member("outcome", done.outcome.outcome);
  text.member("note", done.outcome.note).member("who", done.outcome.who);
  text.member("told", done.outcome.told).member("before", done.before);
  text.member("run", done.run).member("kind", done.kind).member("removed", done.removed);
  text.member("why_not", done.why_not).member("labelled", done.labelled).close('}');
  return json(text);
}

}  // namespace

Response list_pool(const RouteCall& call) {
  const bool whole = parameter(call.request, "whole") == "true";
  const auto kind = parameter(call.request, "kind");
  auto rows = call.aggregator.pool().rows();
  std::erase_if(rows, [&](const pool::PoolBook::Row& row) {
    return (!kind.empty() && row.run->kind != kind) || !call.request.jobs.includes(row.run->job);
  });
  JsonWriter text;
  text.open('{').member("schema", pool::kSchema).key("runs").open('[');
  const auto next = write_page(
      rows, page_query(call.request), [](const pool::PoolBook::Row& row) { return row.run->id; },
      [&](const pool::PoolBook::Row& row) {
        write(text, *row.run, whole);
        return text.size();
      });
  return next ? finish(text.close(']'), *next) : next.error();
}

Response show_pool_run(const RouteCall& call) {
  for (const pool::PoolBook::Row& row : call.aggregator.pool().rows())
    if (row.run->id == call.id && call.request.jobs.includes(row.run->job))
      return {200, "application/json", pool::to_json(*row.run)};
  return no_run(call.id);
}

Response import_pool(const RouteCall& call) {
  if (!is_json(call.request)) return not_json();
  auto runs = pool::read_runs(call.request.body, true);
  if (!runs) return wrong("the body: " + runs.error().text());
  std::vector<std::pair<std::string, std::string>> added;
  for (pool::Run& run : *runs) {
    std::string id = run.id;
    auto kind = call.aggregator.pool().add(std::move(run), call.request.who);
    if (!kind)
      return http::error_response(
          409, "refused",
          kind.error().text() + (added.empty() ? "" : "; the runs before it were added"));
    added.emplace_back(std::move(id), std::move(*kind));
  }
  JsonWriter text;
  text.open('{').key("added").open('[');
  for (const auto& [run, kind] : added)
    text.open('{').member("run", run).member("kind", kind).close('}');
  text.close(']').close('}');
  return json(text);
}

Response drop_pool_run(const RouteCall& call) {
  if (!call.request.body.empty()) return wrong("the body: nothing is asked for");
  const auto done = call.aggregator.pool().drop(call.id, call.request.who);
  if (!done)
    return http::error_response(503, "not_stored", "it is still there: " + done.error().text());
  if (!*done) return no_run(call.id);
  JsonWriter text;
  text.open('{').member("dropped", call.id).close('}');
  return json(text);
}

void record_outcome(const RouteCall& call) {
  if (!is_json(call.request)) return call.reply(not_json());
  auto body = serve::JsonObject::read(call.request.body);
  if (!body) return call.reply(wrong("the body: " + body.error().text()));
  confirm::OutcomeRequest asked;
  asked.outcome.job = call.id;
  asked.outcome.outcome = body->text("outcome", kNoteBytesMax);
  asked.outcome.note = body->text_or_none("note", kNoteBytesMax);
  if (const std::string& word = asked.outcome.outcome; word != "success" && word != "failure")
    body->refuse("outcome", "must be success or failure, not '" + word + "'");
  if (const auto error = body->finish()) return call.reply(wrong(error->text()));
  asked.outcome.who = call.request.who;
  asked.outcome.told = call.aggregator.now();
  const bool taken =
      call.aggregator.record_outcome(std::move(asked), [reply = call.reply](const auto& done) {
        if (done) return reply(answer(*done));
        reply(http::error_response(done.error().status, done.error().code, done.error().message));
      });
  if (!taken) call.reply(busy());
}

}  // namespace l4::api
