#include "aggregator/alert/match.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

namespace l4::alert {
namespace {

bool one_matches(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return matches(pattern, text);
         });
}

template <class List>
bool has(const List& list, const typename List::value_type& value) {
  return std::ranges::find(list, value) != list.end();
}

bool topic_holds(const Match& match, Topic as) {
  if (match.topics.empty() || has(match.topics, as)) return true;
  return as == Topic::storm && has(match.topics, Topic::incident);
}

bool is_of_incidents(const Match& match) {
  return !match.jobs.empty() || !match.states.empty() || !match.faults.empty() ||
         !match.categories.empty();
}

std::string first_of(const std::vector<std::string>& list) {
  return list.empty() ? std::string() : list.front();
}

bool fleet_holds(const Match& match, const Alert& alert, Topic as) {
  const bool has_node = as == Topic::name_twice;
  const bool limited = is_of_incidents(match) || (!has_node && !match.nodes.empty());
  if (limited && !has(match.topics, as)) return false;
  return !has_node || one_matches(match.nodes, first_of(alert.nodes));
}

}  // namespace

std::string_view name(Topic topic) {
  static constexpr std::array<std::string_view, kTopics> kNames{"incident", "blind", "degraded",
                                                                "name_twice", "storm"};
  return kNames.at(static_cast<std::size_t>(topic));
}

Topic topic(Kind kind) {
  switch (kind) {
    case Kind::opened:
    case Kind::changed:
    case Kind::resolved:
      break;
    case Kind::blind:
    case Kind::sighted:
      return Topic::blind;
    case Kind::name_twice:
      return Topic::name_twice;
    case Kind::storm:
    case Kind::storm_over:
      return Topic::storm;
    case Kind::degraded:
    case Kind::well_again:
      return Topic::degraded;
  }
  return Topic::incident;
}

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool may_hold(const Match& match, const Alert& alert, Topic as) {
  if (!topic_holds(match, as)) return false;
  if (alert.job.empty()) return fleet_holds(match, alert, as);
  return one_matches(match.jobs, alert.job);
}

bool holds(const Match& match, const Alert& alert, Topic as) {
  if (!may_hold(match, alert, as)) return false;
  if (alert.job.empty()) return true;
  const Fault none, &fault = alert.faults.empty() ? none : alert.faults.front();
  return (match.states.empty() || has(match.states, alert.state)) &&
         one_matches(match.nodes, first_of(alert.nodes)) && one_matches(match.faults, fault.id) &&
         one_matches(match.categories, fault.category);
}

}  // namespace l4::alert
