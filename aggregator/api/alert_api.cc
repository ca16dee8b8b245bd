#include "aggregator/api/alert_api.h"

#include <functional>
#include <string>
#include <vector>

#include "aggregator/api/pages.h"
#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/rows/answers.h"
#include "aggregator/serve/json_object.h"

namespace l4::api {

http::Response list_alerts(const RouteCall& call) {
  std::vector<alert::Delivery> found = call.aggregator.deliveries();
  if (const auto sink = parameter(call.request, "sink"); !sink.empty())
    std::erase_if(found, [&](const alert::Delivery& one) { return one.sink != sink; });
  serve::JsonWriter text;
  text.open('{').key("alerts").open('[');
  const auto next = write_page(found, page_query(call.request), std::mem_fn(&alert::Delivery::id),
                               [&](const alert::Delivery& one) {
                                 rows::write(text, one);
                                 return text.size();
                               });
  if (!next) return next.error();
  return finish(text.close(']'), *next);
}

void test_alerts(const RouteCall& call) {
  constexpr std::size_t kNameMax = 32;
  if (!is_json(call.request)) return call.reply(not_json());
  auto body = serve::JsonObject::read(call.request.body);
  if (!body) return call.reply(wrong("the body: " + body.error().text()));
  const std::string sink = body->text_or_none("sink", kNameMax);
  if (const auto error = body->finish()) return call.reply(wrong(error->text()));
  const auto begun = call.aggregator.test_alerts(
      sink, call.request.who, [reply = call.reply](const std::vector<alert::TrialRow>& tried) {
        serve::JsonWriter text;
        text.open('{').key("sinks").open('[');
        for (const alert::TrialRow& row : tried) rows::write(text, row);
        text.close(']').close('}');
        reply(json(text));
      });
  if (begun) return;
  const alert::TrialRefusal& why = begun.error();
  call.reply(http::error_response(why.under_way ? 503 : 404, why.under_way ? "busy" : "not_found",
                                  why.message));
}

}  // namespace l4::api
