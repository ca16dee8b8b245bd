#include "aggregator/receive/liveness.h"

#include <algorithm>
#include <utility>

namespace l4::receive {
namespace {

constexpr Millis kLookEvery{250};
constexpr std::size_t kBlindLeast = 3;  ///< of one or two agents nobody can tell

}  // namespace

Liveness::Liveness(LivenessOptions options, Millis start)
    : options_(options),
      start_(start),
      stepped_(start),
      looked_(start),
      quiet_since_(start),
      quiet_until_(start + options.grace) {}

void Liveness::expect(const std::string& agent) {
  agents_.try_emplace(agent, Agent{start_, start_, false});
}

void Liveness::heard(const std::string& agent, Millis now) {
  Agent& known = agents_[agent];
  if (known.lost) back_.push_back({Change::Kind::back, agent, now - known.heard, 0, 0});
  const bool broken = known.lost || now - known.heard > options_.overdue_after;
  known = {now, broken ? now : known.since, false};
}

void Liveness::left(const std::string& agent) {
  agents_.erase(agent);
}

bool Liveness::is_lost(const std::string& agent) const {
  const auto found = agents_.find(agent);
  return found != agents_.end() && found->second.lost;
}

std::size_t Liveness::living() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(agents_, [](const auto& one) { return !one.second.lost; }));
}

std::vector<Liveness::Change> Liveness::step(Millis now) {
  std::vector<Change> changes = std::exchange(back_, {});
  const Millis away = now - stepped_;
  stepped_ = now;
  if (away > options_.looked_away) {
    for (auto& [name, agent] : agents_) {
      agent.heard = std::min(now, agent.heard + away);
      agent.since = std::min(agent.heard, agent.since + away);
    }
    quiet_since_ = std::min(now, quiet_since_ + away);
  }
  if (now - looked_ < kLookEvery) return changes;
  looked_ = now;
  look(now, changes);
  return changes;
}

bool Liveness::Counts::most() const {
  return alive >= kBlindLeast && 2 * overdue > alive;
}

bool Liveness::is_steady(const Agent& agent) const {
  return agent.heard - std::max(agent.since, quiet_since_) >= options_.steady;
}

Liveness::Counts Liveness::count(Millis now, bool steady) const {
  Counts counts;
  for (const auto& [name, agent] : agents_) {
    if (agent.lost || (steady && !is_steady(agent))) continue;
    ++counts.alive;
    counts.overdue += now - agent.heard > options_.overdue_after;
    counts.longest = std::max(counts.longest, now - agent.heard);
  }
  return counts;
}

void Liveness::lose(Millis now, bool steady, std::vector<Change>& changes) {
  for (auto& [name, agent] : agents_) {
    if (agent.lost || now - agent.heard <= options_.lost_after) continue;
    if (steady && !is_steady(agent)) continue;
    agent.lost = true;
    changes.push_back({Change::Kind::lost, name, now - agent.heard, 0, 0});
  }
}

void Liveness::look(Millis now, std::vector<Change>& changes) {
  if (now < quiet_until_ && !blind_) {
    if (!count(now, true).most() && !count(now, false).most()) lose(now, true, changes);
    return;
  }
  const Counts counts = count(now, false);
  const bool most = counts.most();
  if (most && !blind_) {
    blind_ = true;
    blind_since_ = now;
    changes.push_back({Change::Kind::blind, {}, counts.longest, counts.overdue, counts.alive});
  }
  if (blind_ && now - blind_since_ > options_.blind_most)
    std::erase_if(agents_, [&](const auto& one) {
      return !one.second.lost && now - one.second.heard > options_.blind_most;
    });
  if (blind_ && !most) {
    blind_ = false;
    quiet_since_ = now;
    quiet_until_ = now + options_.grace;
    changes.push_back({Change::Kind::sighted, {}, {}, counts.overdue, counts.alive});
  }
  if (!blind_ && now >= quiet_until_) lose(now, false, changes);
}

}  // namespace l4::receive
