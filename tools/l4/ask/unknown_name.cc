#include "tools/l4/ask/unknown_name.h"

#include <fmt/format.h>

#include "common/http/url.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/suggest.h"

namespace l4::ask {
namespace {

/// The list of the names of one kind, and the end of the sentence if no name is near.
struct Names {
  const char *what, *path, *list, *id, *none, *shown;
};

Failure no_such(const Aggregator& asked, const Names& names, const std::string& name) {
  Failure failure{{"", fmt::format("there is no {} {}", names.what, name)}, terminal::kWrongUse};
  const auto body = fetch(asked, names.path, Millis{10'000});
  const auto known = body ? read_names(*body, names.list, names.id) : std::unexpected(Error{});
  if (!known) return failure;
  const std::string near = terminal::did_you_mean(name, *known);
  failure.error.reason += !near.empty() ? near : known->empty() ? names.none : names.shown;
  return failure;
}

}  // namespace

bool is_watched_job(const Aggregator& asked, const std::string& name) {
  const auto row = fetch(asked, "/api/v1/jobs/" + http::percent_encoded(name), Millis{10'000});
  return row || row.error().status != 404;
}

Failure no_such_job(const Aggregator& asked, const std::string& name) {
  return no_such(asked,
                 {"job", "/api/v1/jobs", "jobs", "id", "; none is watched now",
                  "; 'l4 jobs' names those that are watched"},
                 name);
}

Failure no_such_incident(const Aggregator& asked, const std::string& name) {
  return no_such(asked,
                 {"incident", "/api/v1/incidents?count=1000", "incidents", "id", "; none is known",
                  "; 'l4 incidents' names them"},
                 name);
}

Failure no_such_run(const Aggregator& asked, const std::string& name) {
  return no_such(asked,
                 {"run", "/api/v1/pool", "runs", "id", " in the pool; it is empty",
                  " in the pool; 'l4 pool list' names them"},
                 name);
}

Failure no_such_confirmed_fault(const Aggregator& asked, const std::string& name) {
  return no_such(asked,
                 {"confirmed fault", "/api/v1/faults?confirmed=true", "faults", "id",
                  "; none was confirmed", "; 'l4 faults list --confirmed' names them"},
                 name);
}

}  // namespace l4::ask
