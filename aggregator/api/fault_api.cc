#include "aggregator/api/fault_api.h"

#include <utility>

#include "aggregator/api/pages.h"
#include "aggregator/api/replies.h"
#include "aggregator/faults/fault_toml.h"
#include "aggregator/rows/answers.h"
#include "aggregator/serve/json_object.h"

namespace l4::api {
namespace {

using http::Request;
using http::Response;
using serve::JsonWriter;

void write_lines(JsonWriter& to, const std::vector<scoring::SeenLine>& lines) {
  to.open('[');
  for (const scoring::SeenLine& line : lines)
    to.open('{').member("where", line.where).member("text", line.text).close('}');
  to.close(']');
}

Response answer(const confirm::Refused& refused) {
  JsonWriter text;
  text.open('{').key("error").open('{').member("code", refused.code);
  text.member("message", refused.message);
  if (!refused.lines.empty()) write_lines(text.key("lines"), refused.lines);
  text.close('}').close('}');
  return json(text, refused.status);
}

Response answer(const confirm::Confirmed& confirmed) {
  JsonWriter text;
  text.open('{').member("stored", confirmed.stored).member("known", confirmed.known);
  text.member("category_from", confirmed.category_from).key("fault");
  rows::write(text, confirmed.fault, true);
  text.key("evidence").open('[');
  for (const diagnose::IndicatingEvent& event : confirmed.evidence)
    text.open('{')
        .member("template_id", to_string(event.id))
        .member("template", event.text)
        .close('}');
  text.close(']').key("also_matches").open('[');
  for (const confirm::PastIncident& past : confirmed.also_matches) {
    text.open('{').member("incident", past.incident).member("job", past.job);
    text.member("state", past.state).member("template", past.text).close('}');
  }
  text.close(']').member("overlaps", confirmed.overlaps).key("looked_at").open('{');
  text.member("incidents", confirmed.incidents).member("jobs", confirmed.normal.jobs);
  text.member("runs", confirmed.normal.runs).member("templates", confirmed.normal.templates);
  text.member("complete", confirmed.normal.complete).close('}').close('}');
  return json(text);
}

template <class T>
Response answer_of(const std::expected<T, confirm::Refused>& done) {
  return done ? answer(*done) : answer(done.error());
}

std::expected<confirm::ConfirmRequest, Response> read_request(const Request& request) {
  if (!is_json(request)) return std::unexpected(not_json());
  auto body = serve::JsonObject::read(request.body);
  if (!body) return std::unexpected(wrong("the body: " + body.error().text()));
  confirm::ConfirmRequest asked;
  asked.incident = body->text("incident", confirm::Bounds::kName);
  asked.cause = body->text("cause", confirm::Bounds::kSentence);
  asked.fix = body->text("fix", confirm::Bounds::kSentence);
  asked.category = body->text_or_none("category", confirm::Bounds::kName);
  asked.title = body->text_or_none("title", confirm::Bounds::kTitle);
  if (asked.title.ends_with('.')) body->refuse("title", "must not end with a full stop");
  asked.id = body->text_or_none("id", confirm::Bounds::kId);
  asked.action = body->text_or_none("action", confirm::Bounds::kSentence);
  asked.template_id = body->text_or_none("template", confirm::Bounds::kName);
  asked.example = body->text_or_none("example", confirm::Bounds::kExample);
  asked.patterns =
      body->texts_or_none("patterns", confirm::Bounds::kPatterns, confirm::Bounds::kPattern);
  asked.dry_run = body->flag_or("dry_run", false);
  asked.who = request.who;
  if (const auto error = body->finish()) return std::unexpected(wrong(error->text()));
  return asked;
}

/// Renders the faults as a file of a fault library; a comment in its last line says if more faults
/// follow.
Response fault_file(const std::vector<const faults::Fault*>& faults, const PageQuery& page) {
  std::string entries;
  const auto next = write_page(
      faults, page, [](const faults::Fault* one) { return one->id; },
      [&](const faults::Fault* one) {
        entries += (entries.empty() ? "" : "\n") + faults::to_toml(*one);
        return entries.size();
      });
  if (!next) return next.error();
  if (!next->empty()) entries += std::string(faults::kMoreFaults) + *next + "\n";
  return {200, "application/toml", std::move(entries)};
}

}  // namespace

bool may_see_fault(const RouteCall& call, const faults::Fault& fault) {
  const http::JobLimit& limit = call.request.jobs;
  if (!limit.is_limited() || !fault.confirmed) return true;
  const auto row = call.aggregator.incident(fault.confirmed->incident);
  return row && *row && limit.includes((*row)->job);
}

Response list_faults(const RouteCall& call) {
  const Request& request = call.request;
  const auto library = call.aggregator.library();
  const bool confirmed = parameter(request, "confirmed") == "true";
  const bool whole = parameter(request, "whole") == "true";
  std::vector<const faults::Fault*> listed;
  for (const faults::Fault& fault : library->faults())
    if ((!confirmed || fault.confirmed) && may_see_fault(call, fault)) listed.push_back(&fault);
  const PageQuery page = page_query(request);
  if (parameter(request, "format") == "toml") return fault_file(listed, page);
  JsonWriter text;
  text.open('{').key("faults").open('[');
  const auto next = write_page(
      listed, page, [](const faults::Fault* one) { return one->id; },
      [&](const faults::Fault* one) {
        rows::write(text, *one, whole);
        return text.size();
      });
  return next ? finish(text.close(']'), *next) : next.error();
}

Response show_fault(const RouteCall& call) {
  const auto library = call.aggregator.library();
  const faults::Fault* fault = library->find(call.id);
  if (fault == nullptr || !may_see_fault(call, *fault)) return nothing("fault", call.id);
  JsonWriter text;
  rows::write(text, *fault, true);
  return json(text);
}

void confirm_fault(const RouteCall& call) {
  auto asked = read_request(call.request);
  if (!asked) return call.reply(asked.error());
  const bool taken = call.aggregator.confirm(
      std::move(*asked),
      [reply = call.reply](const std::expected<confirm::Confirmed, confirm::Refused>& done) {
        reply(answer_of(done));
      });
  if (!taken) call.reply(busy());
}

void drop_fault(const RouteCall& call) {
  if (!call.request.body.empty()) return call.reply(wrong("the body: nothing is asked for"));
  const bool taken = call.aggregator.drop_fault(
      call.id, call.request.who,
      [reply = call.reply](const std::expected<faults::Fault, confirm::Refused>& done) {
        if (!done) return reply(answer(done.error()));
        JsonWriter text;
        rows::write(text.open('{').key("dropped"), *done, true);
        text.close('}');
        reply(json(text));
      });
  if (!taken) call.reply(busy());
}

}  // namespace l4::api
