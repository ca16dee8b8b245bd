#include "aggregator/alert/storm.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace l4::alert {
namespace {

constexpr std::size_t kStormsMax = 16, kIncidentsMax = 1'000, kJobsTold = 10, kListed = 100;

}  // namespace

Storm::Decision Storm::decide(const Alert& alert, TimeMs now) {
  if (options_.incidents == 0 || alert.incident.empty()) return {};
  const auto at = std::ranges::find_if(
      storms_, [&](const One& one) { return one.open.contains(alert.incident); });
  if (at != storms_.end() && alert.kind == Kind::resolved) return ends(alert, at, now);
  if (at != storms_.end()) return {false, std::nullopt, now, {}};
  if (alert.kind != Kind::opened) return {};
  if (!window_ || now >= *window_ + options_.window || now < *window_) {
    window_ = now;
    seen_ = 0;
    for (One& one : storms_) one.tells = false;
  }
  if (++seen_ <= options_.incidents) return {};
  return joins(alert, now);
}

Storm::Decision Storm::joins(const Alert& alert, TimeMs now) {
  if (storms_.empty() || !storms_.back().tells) {
    if (storms_.size() >= kStormsMax) storms_.pop_front();
    storms_.emplace_back().key =
        fmt::format("storm.{}", window_.value_or(now).time_since_epoch().count());
  }
  One& storm = storms_.back();
  if (++storm.count <= kJobsTold)
    storm.told +=
        fmt::format("{}{} ({})", storm.told.empty() ? "" : ", ", alert.job, name(alert.state));
  if (storm.incidents.size() < kListed) storm.incidents.push_back(alert.incident);
  if (storm.open.size() < kIncidentsMax) storm.open.insert(alert.incident);
  Alert one;
  one.state = storm.state;
  if (severity(alert) > severity(one)) storm.state = alert.state;
  return {false, summary(storm, now), *window_ + options_.window, storm.key};
}

Storm::Decision Storm::ends(const Alert& alert, const std::deque<One>::iterator& at, TimeMs now) {
  at->open.erase(alert.incident);
  Decision decision{false, std::nullopt, now, at->key};
  if (!at->open.empty()) return decision;
  Alert over = summary(*at, now);
  over.kind = Kind::storm_over;
  over.incidents.clear();
  over.summary = "all incidents that were told together are resolved";
  // Not before the summary, which may still wait for the end of its window.
  if (at->tells && window_) decision.due = std::max(now, *window_ + options_.window);
  decision.instead = std::move(over);
  storms_.erase(at);
  return decision;
}

Alert Storm::summary(const One& one, TimeMs now) const {
  Alert alert;
  alert.kind = Kind::storm;
  alert.at = now;
  alert.incident = one.key;
  alert.state = one.state;
  alert.incidents = one.incidents;
  alert.summary =
      fmt::format("{} more incident{} within {}: {}{}", one.count, one.count == 1 ? "" : "s",
                  to_human(options_.window), one.told, one.count > kJobsTold ? ", and others" : "");
  return alert;
}

std::string Storm::saved(const std::string& key) const {
  const auto at = std::ranges::find(storms_, key, &One::key);
  std::string text;
  if (at == storms_.end()) return text;
  for (const std::string& incident : at->open) text += incident + "\n";
  return text;
}

void Storm::restore(const std::string& key, const std::string& saved) {
  if (storms_.size() >= kStormsMax) return;
  One& storm = storms_.emplace_back();
  storm.key = key;
  storm.tells = false;
  storm.state = State::crashed;
  std::istringstream lines(saved);
  for (std::string line; std::getline(lines, line);)
    if (storm.open.size() < kIncidentsMax) storm.open.insert(line);
}

}  // namespace l4::alert
