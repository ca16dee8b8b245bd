#include "aggregator/api/pages.h"

#include <fmt/format.h>

#include "aggregator/serve/utf8.h"

namespace l4::api {

PageQuery page_query(const http::Request& request) {
  PageQuery query;
  if (const auto count = count_in(parameter(request, "count"))) query.count = *count;
  query.after = parameter(request, "after");
  return query;
}

http::Response finish(serve::JsonWriter& text, std::string_view next) {
  text.key("next");
  next.empty() ? text.raw("null") : text.value(next);
  text.close('}');
  return json(text);
}

http::Response no_such_row(std::string_view after) {
  constexpr std::size_t kShown = 80;
  return wrong(fmt::format("after must be `next` of the answer before; nothing is called '{}' now",
                           serve::cut(after, kShown)));
}

}  // namespace l4::api
