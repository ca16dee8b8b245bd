#include "aggregator/api/label_api.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "aggregator/api/incident_api.h"
#include "aggregator/api/pages.h"
#include "aggregator/api/replies.h"
#include "aggregator/confirm/label.h"
#include "aggregator/serve/json_object.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/utf8.h"

namespace l4::api {
namespace {

using http::Response;
using serve::JsonWriter;

constexpr std::size_t kNodesMax = 1'000, kNameMax = 512, kRankMax = 9;

std::expected<confirm::Truth, Response> read_truth(const http::Request& request) {
  if (!is_json(request)) return std::unexpected(not_json());
  auto body = serve::JsonObject::read(request.body);
  if (!body) return std::unexpected(wrong("the body: " + body.error().text()));
  confirm::Truth truth;
  truth.state = body->text_or_none("state", kNameMax);
  truth.nodes = body->texts_or_none("nodes", kNodesMax, kNameMax);
  truth.template_id = body->text_or_none("template", kNameMax);
  truth.fault = body->text_or_none("fault", kNameMax);
  if (const std::string rank = body->text_or_none("rank", kRankMax); !rank.empty()) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(rank.data(), rank.data() + rank.size(), number);
    if (failed != std::errc{} || end != rank.data() + rank.size() || number < 0)
      body->refuse("rank", "must be a whole number from 0 on");
    truth.rank = number;
  }
  if (!truth.state.empty())
    if (const std::string known = confirm::unknown_state(truth.state); !known.empty())
      body->refuse("state", "must be one of " + known);
  if (const auto error = body->finish()) return std::unexpected(wrong(error->text()));
  if (truth.is_empty())
    return std::unexpected(wrong("state, nodes, rank or template must be given"));
  return truth;
}

void write(JsonWriter& to, const store::Label& label) {
  to.open('{').member("subject", label.subject).member("job", label.job);
  to.member("source", label.source).member("who", label.who).member("told", label.told);
  to.key("truth").raw(label.truth).key("claims").raw(label.claims).close('}');
}

}  // namespace

Response label_incident(const RouteCall& call) {
  const auto truth = read_truth(call.request);
  if (!truth) return truth.error();
  const auto row = asked_incident_with_report(call);
  if (!row) return row.error();
  const auto report = serve::report_from_json(row->report);
  if (!report)
    return http::error_response(422, "refused",
                                fmt::format("the report of incident {} is of another version: {}",
                                            row->id, report.error().text()));
  const store::Label label =
      confirm::label_of(*row, *report, *truth, call.request.who, call.aggregator.now());
  if (label.claims == "[]")
    return http::error_response(
        422, "refused",
        fmt::format("the report of incident {} claims nothing that this would judge", row->id));
  if (const auto saved = call.aggregator.database().save(label); !saved)
    return http::error_response(503, "not_stored",
                                "the label is not stored: " + saved.error().text());
  call.aggregator.tell_quiet(
      "labelled", row->job, label.truth,
      fmt::format("{} said what incident {} was: {}", label.who, row->id, label.truth));
  JsonWriter text;
  write(text, label);
  return json(text);
}

Response list_labels(const RouteCall& call) {
  auto labels = call.aggregator.database().labels();
  if (!labels) return refused_by_database(labels.error().text());
  std::erase_if(*labels,
                [&](const store::Label& label) { return !call.request.jobs.includes(label.job); });
  PageQuery page = page_query(call.request);
  page.sorted = true;
  JsonWriter text;
  text.open('{').member("schema", "l4.labels/1").key("labels").open('[');
  const auto next = write_page(
      *labels, page, [](const store::Label& label) { return label.subject; },
      [&](const store::Label& label) {
        write(text, label);
        return text.size();
      });
  return next ? finish(text.close(']'), *next) : next.error();
}

}  // namespace l4::api
