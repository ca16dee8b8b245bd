#include "aggregator/api/session_api.h"

#include "aggregator/api/replies.h"
#include "aggregator/serve/json_text.h"

namespace l4::api {

http::Response show_session(const RouteCall& call) {
  serve::JsonWriter text;
  text.open('{')
      .member("who", call.request.who)
      .member("role", call.request.may_change ? "operate" : "read")
      .member("by_cookie", call.request.authorization.empty() && !call.request.cookie.empty());
  const http::JobLimit& limit = call.request.jobs;
  text.member("jobs", limit.is_limited() ? std::optional(limit.patterns()) : std::nullopt);
  text.close('}');
  return json(text);
}

}  // namespace l4::api
