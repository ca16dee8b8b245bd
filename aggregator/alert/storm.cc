#include "aggregator/alert/storm.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace l4::alert {
namespace {

constexpr std::size_t kStormsMax = 16, kIncidentsMax = 1'000, kJobsNamed = 10, kListed = 100;

}  // namespace

Storm::Decision Storm::decide(const Alert& alert, TimeMs now) {
  if (options_.incidents == 0 || alert.incident.empty()) return {};
  const auto at = std::ranges::find_if(
      groups_, [&](const Group& group) { return group.open.contains(alert.incident); });
  if (at != groups_.end() && alert.kind == Kind::resolved) return resolve(alert, at, now);
  if (at != groups_.end()) return {false, std::nullopt, now, {}};
  if (alert.kind != Kind::opened) return {};
  if (!window_ || now >= *window_ + options_.window || now < *window_) {
    window_ = now;
    seen_ = 0;
    for (Group& group : groups_) group.growing = false;
  }
  if (++seen_ <= options_.incidents) return {};
  return add(alert, now);
}

Storm::Decision Storm::add(const Alert& alert, TimeMs now) {
  if (groups_.empty() || !groups_.back().growing) {
    if (groups_.size() >= kStormsMax) groups_.pop_front();
    groups_.emplace_back().key =
        fmt::format("storm.{}", window_.value_or(now).time_since_epoch().count());
  }
  Group& storm = groups_.back();
  if (++storm.count <= kJobsNamed)
    storm.jobs +=
        fmt::format("{}{} ({})", storm.jobs.empty() ? "" : ", ", alert.job, name(alert.state));
  if (storm.incidents.size() < kListed) storm.incidents.push_back(alert.incident);
  if (storm.open.size() < kIncidentsMax) storm.open.insert(alert.incident);
  Alert former;
  former.state = storm.state;
  if (severity(alert) > severity(former)) storm.state = alert.state;
  return {false, summary(storm, now), *window_ + options_.window, storm.key};
}

Storm::Decision Storm::resolve(const Alert& alert, const std::deque<Group>::iterator& at,
                               TimeMs now) {
  at->open.erase(alert.incident);
  Decision decision{false, std::nullopt, now, at->key};
  if (!at->open.empty()) return decision;
  Alert over = summary(*at, now);
  over.kind = Kind::storm_over;
  over.incidents.clear();
  over.summary = "all incidents that were told together are resolved";
  // The summary may still wait for the end of its window; the end of the storm follows it.
  if (at->growing && window_) decision.due = std::max(now, *window_ + options_.window);
  decision.instead = std::move(over);
  groups_.erase(at);
  return decision;
}

Alert Storm::summary(const Group& group, TimeMs now) const {
  Alert alert;
  alert.kind = Kind::storm;
  alert.at = now;
  alert.incident = group.key;
  alert.state = group.state;
  alert.incidents = group.incidents;
  alert.summary = fmt::format("{} more incident{} within {}: {}{}", group.count,
                              group.count == 1 ? "" : "s", to_human(options_.window), group.jobs,
                              group.count > kJobsNamed ? ", and others" : "");
  return alert;
}

std::string Storm::saved(const std::string& key) const {
  const auto at = std::ranges::find(groups_, key, &Group::key);
  std::string text;
  if (at == groups_.end()) return text;
  for (const std::string& incident : at->open) text += incident + "\n";
  return text;
}

void Storm::restore(const std::string& key, const std::string& saved) {
  if (groups_.size() >= kStormsMax) return;
  Group& storm = groups_.emplace_back();
  storm.key = key;
  storm.growing = false;
  storm.state = State::crashed;
  std::istringstream lines(saved);
  for (std::string line; std::getline(lines, line);)
    if (storm.open.size() < kIncidentsMax) storm.open.insert(line);
}

}  // namespace l4::alert
