#include "aggregator/alert/filter.h"

#include <algorithm>
#include <array>

#include "aggregator/serve/shell_pattern.h"

namespace l4::alert {
namespace {

bool one_matches(const std::vector<std::string>& patterns, const std::string& text) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return serve::matches_pattern(pattern, text);
         });
}

template <class List>
bool has(const List& list, const typename List::value_type& value) {
  return std::ranges::find(list, value) != list.end();
}

bool topic_matches(const AlertFilter& filter, Topic as) {
  if (as == Topic::notice) return has(filter.topics, as);
  if (filter.topics.empty() || has(filter.topics, as)) return true;
  return as == Topic::storm && has(filter.topics, Topic::incident);
}

bool names_incidents(const AlertFilter& filter) {
  return !filter.jobs.empty() || !filter.states.empty() || !filter.faults.empty() ||
         !filter.categories.empty();
}

std::string first_of(const std::vector<std::string>& list) {
  return list.empty() ? std::string() : list.front();
}

bool fleet_matches(const AlertFilter& filter, const Alert& alert, Topic as) {
  const bool has_node = as == Topic::name_twice;
  const bool limited = names_incidents(filter) || (!has_node && !filter.nodes.empty());
  if (limited && !has(filter.topics, as)) return false;
  return !has_node || one_matches(filter.nodes, first_of(alert.nodes));
}

}  // namespace

std::string_view name(Topic topic) {
  static constexpr std::array<std::string_view, kTopics> kNames{"incident",   "blind", "degraded",
                                                                "name_twice", "storm", "notice"};
  return kNames.at(static_cast<std::size_t>(topic));
}

Topic topic(Kind kind) {
  switch (kind) {
    case Kind::opened:
    case Kind::changed:
    case Kind::resolved:
    case Kind::test:  // goes to every sink that is tried
    case Kind::test_over:
      break;
    case Kind::blind:
    case Kind::sighted:
      return Topic::blind;
    case Kind::name_twice:
      return Topic::name_twice;
    case Kind::storm:
    case Kind::storm_over:
      return Topic::storm;
    case Kind::noticed:
    case Kind::notice_over:
      return Topic::notice;
    case Kind::degraded:
    case Kind::well_again:
      return Topic::degraded;
  }
  return Topic::incident;
}

bool may_match(const AlertFilter& filter, const Alert& alert, Topic as) {
  if (!topic_matches(filter, as)) return false;
  if (alert.job.empty()) return fleet_matches(filter, alert, as);
  return one_matches(filter.jobs, alert.job);
}

bool matches(const AlertFilter& filter, const Alert& alert, Topic as) {
  if (!may_match(filter, alert, as)) return false;
  if (alert.job.empty()) return true;
  const Fault none, &fault = alert.faults.empty() ? none : alert.faults.front();
  return (filter.states.empty() || has(filter.states, alert.state)) &&
         one_matches(filter.nodes, first_of(alert.nodes)) && one_matches(filter.faults, fault.id) &&
         one_matches(filter.categories, fault.category);
}

bool silences(const AlertFilter& filter, const Alert& alert) {
  const Topic as = topic(alert.kind);
  const bool of_all = as == Topic::notice && filter.topics.empty();
  return matches(filter, alert, of_all ? Topic::incident : as);
}

}  // namespace l4::alert
