#include "tools/l4/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/nearest.h"
#include "tools/l4/live_json.h"

namespace l4::cli {
namespace {

/// Where names of a kind are listed, and what is said where none is near.
struct Names {
  const char *what, *path, *list, *id, *none, *shown;
};

Failure no_such(const Aggregator& asked, const Names& names, const std::string& name) {
  Failure failure{{"", fmt::format("there is no {} {}", names.what, name)}, kWrongUse};
  const auto body = fetch(asked, names.path, Millis{10'000});
  const auto known = body ? read_names(*body, names.list, names.id) : std::unexpected(Error{});
  if (!known) return failure;
  const std::string near = did_you_mean(name, *known);
  failure.error.reason += !near.empty() ? near : known->empty() ? names.none : names.shown;
  return failure;
}

}  // namespace

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

std::string did_you_mean(const std::string& typo, const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 4;
  const std::vector<std::string> near = nearest_words(typo, words, kMost);
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i)
    text += (i == 0 ? "; did you mean " : i + 1 == near.size() ? " or " : ", ") + near[i];
  return near.empty() ? text : text + "?";
}

std::function<std::string(const std::string&)> one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& given) {
    if (std::ranges::find(words, given) != words.end()) return std::string();
    return fmt::format("{} is none of {}{}", given, fmt::join(words, ", "),
                       did_you_mean(given, words));
  };
}

}  // namespace l4::cli
