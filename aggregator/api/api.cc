#include "aggregator/api/api.h"

#include <utility>

#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/api/routes.h"

namespace l4::api {

http::Handler make_handler(live::Aggregator& aggregator,
                           std::shared_ptr<const http::Counters> counters) {
  return [&aggregator, counters = std::move(counters)](const http::Request& request,
                                                       const http::Reply& reply) {
    const auto matched = match_route(request);
    if (!matched) return reply(matched.error());
    if (matched->route->reach == Reach::job && !request.jobs.includes(matched->id))
      return reply(nothing("job", matched->id));
    if (auto wrong = refused_parameter(matched->route->parameters, request))
      return reply(std::move(*wrong));
    matched->route->handler({aggregator, request, reply, matched->id, counters});
  };
}

}  // namespace l4::api
