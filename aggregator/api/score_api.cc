#include "aggregator/api/score_api.h"

#include <optional>
#include <string>
#include <utility>

#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/rows/score_rows.h"
#include "aggregator/rows/term_rows.h"
#include "aggregator/scores/matrix.h"
#include "aggregator/scores/terms.h"

namespace l4::api {
namespace {

using scores::What;

std::optional<scores::Query> query_of(const http::Request& request) {
  scores::Query query;
  if (const auto name = parameter(request, "what"); !name.empty()) {
    const auto what = rows::what_of(name);
    if (!what) return std::nullopt;
    query.what = *what;
  }
  query.from = parameter(request, "from");
  query.to = parameter(request, "to");
  query.width = count_in(parameter(request, "width")).value_or(query.width);
  query.rows = count_in(parameter(request, "rows"), kMapRowsMax).value_or(query.rows);
  return query;
}

http::Response terms_of(const scoring::LiveJob& job, const scores::TermsQuery& query) {
  const auto terms = scores::cell_terms(job.state(), query);
  if (!terms) return wrong(terms.error().text());
  if (!*terms) return nothing("cell of a node", query.node);
  serve::JsonWriter text;
  rows::write(text, job.id(), query.node, **terms);
  return json(text);
}

constexpr const char* kWhats = "what must be nodes, ranks or phases";

http::Response matrix_of(const scoring::LiveJob& job, const scores::Query& query) {
  const auto matrix = scores::score_matrix(job.state(), query);
  if (!matrix) return wrong(matrix.error().text());
  serve::JsonWriter text;
  rows::write(text, job.id(), *matrix);
  return json(text);
}

}  // namespace

void show_scores(const RouteCall& call) {
  const auto query = query_of(call.request);
  if (!query) return call.reply(wrong(kWhats));
  const bool asked =
      call.aggregator.job(call.id, live::ReportAge::none,
                          [reply = call.reply, id = call.id, query](const scoring::LiveJob* job,
                                                                    const scoring::Shard&) {
                            reply(job == nullptr ? nothing("job", id) : matrix_of(*job, *query));
                          });
  if (!asked) call.reply(busy());
}

void show_score_terms(const RouteCall& call) {
  const auto matrix = query_of(call.request);
  if (!matrix) return call.reply(wrong(kWhats));
  scores::TermsQuery query{.matrix = *matrix,
                           .node = std::string(parameter(call.request, "node")),
                           .phase = std::string(parameter(call.request, "phase")),
                           .at = std::string(parameter(call.request, "at"))};
  if (query.node.empty()) return call.reply(wrong("node must name a node"));
  if (query.at.empty()) return call.reply(wrong("at must be a time or an iteration of the column"));
  const bool asked =
      call.aggregator.job(call.id, live::ReportAge::none,
                          [reply = call.reply, id = call.id, query = std::move(query)](
                              const scoring::LiveJob* job, const scoring::Shard&) {
                            reply(job == nullptr ? nothing("job", id) : terms_of(*job, query));
                          });
  if (!asked) call.reply(busy());
}

}  // namespace l4::api
