#include "aggregator/api/score_api.h"

#include <optional>
#include <string>

#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/rows/score_rows.h"
#include "aggregator/scores/matrix.h"

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
  if (!query) return call.reply(wrong("what must be nodes, ranks or phases"));
  const bool asked =
      call.aggregator.job(call.id, false,
                          [reply = call.reply, id = call.id, query](const scoring::LiveJob* job,
                                                                    const scoring::JobRow&) {
                            reply(job == nullptr ? nothing("job", id) : matrix_of(*job, *query));
                          });
  if (!asked) call.reply(busy());
}

}  // namespace l4::api
