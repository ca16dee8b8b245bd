#include "aggregator/receive/liveness.h"

#include <algorithm>
#include <utility>

namespace l4::receive {
namespace {

constexpr Millis kScanEvery{250};
constexpr std::size_t kBlindLeast = 3;  ///< one or two silent agents do not prove a blindness

}  // namespace

Liveness::Liveness(LivenessOptions options, Millis start)
    : options_(options),
      start_(start),
      stepped_(start),
      scanned_(start),
      quiet_since_(start),
      quiet_until_(start + options.grace) {}

void Liveness::expect(const std::string& agent) {
  agents_.try_emplace(agent, Contact{start_, start_});
}

void Liveness::heard(const std::string& agent, Millis now) {
  Contact& known = agents_[agent];
  if (known.lost || known.away)
    back_.push_back({Change::Kind::back, agent, now - known.heard, 0, 0});
  const bool broken = known.lost || now - known.heard > options_.overdue_after;
  known = {now, broken ? now : known.since, false, false, true};
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
  if (away > options_.step_pause_max) {
    for (auto& [name, agent] : agents_) {
      agent.heard = std::min(now, agent.heard + away);
      agent.since = std::min(agent.heard, agent.since + away);
    }
    quiet_since_ = std::min(now, quiet_since_ + away);
    blind_since_ = std::min(now, blind_since_ + away);
  }
  if (now - scanned_ < kScanEvery) return changes;
  scanned_ = now;
  scan(now, changes);
  return changes;
}

bool Liveness::Counts::most() const {
  return alive >= kBlindLeast && 2 * overdue > alive;
}

bool Liveness::is_steady(const Contact& agent) const {
  return agent.heard - std::max(agent.since, quiet_since_) >= options_.steady;
}

Liveness::Counts Liveness::count(Millis now, bool steady) const {
  Counts counts;
  for (const auto& [name, agent] : agents_) {
    if (agent.lost || (steady && !is_steady(agent))) continue;
    ++counts.alive;
    const bool overdue = now - agent.heard > options_.overdue_after;
    counts.overdue += overdue ? 1 : 0;
    counts.met += agent.met ? 1 : 0;
    counts.met_overdue += agent.met && overdue ? 1 : 0;
    counts.longest = std::max(counts.longest, now - agent.heard);
  }
  return counts;
}

void Liveness::lose(Millis now, const std::string& name, Contact& agent,
                    std::vector<Change>& changes) {
  agent.lost = true;
  agent.away = false;
  changes.push_back({Change::Kind::lost, name, now - agent.heard, 0, 0});
}

void Liveness::lose(Millis now, bool steady, std::vector<Change>& changes) {
  for (auto& [name, agent] : agents_) {
    if (agent.lost || now - agent.heard <= options_.lost_after) continue;
    if (steady && !is_steady(agent)) continue;
    lose(now, name, agent, changes);
  }
}

void Liveness::note_away(Millis now, Millis after, std::vector<Change>& changes) {
  for (auto& [name, agent] : agents_) {
    if (agent.lost || agent.away || now - agent.heard <= after) continue;
    agent.away = true;
    changes.push_back({Change::Kind::away, name, now - agent.heard, 0, 0});
  }
}

void Liveness::scan(Millis now, std::vector<Change>& changes) {
  if (blind_) return scan_blind(now, changes);
  if (now < quiet_until_) {
    if (!count(now, true).most() && !count(now, false).most()) lose(now, true, changes);
    return;
  }
  const Counts counts = count(now, false);
  if (!counts.most()) return lose(now, false, changes);
  blind_ = true;
  blind_since_ = now;
  changes.push_back({Change::Kind::blind, {}, counts.longest, counts.overdue, counts.alive});
}

/// A blindness in which no agent is heard ends only by goodbyes: an aggregator that is cut off must
/// not call it over just because much time has passed.
void Liveness::scan_blind(Millis now, std::vector<Change>& changes) {
  note_away(now, options_.away_after, changes);
  const Counts counts = count(now, false);
  if (counts.alive > 0 && counts.overdue == counts.alive) return;
  if (2 * counts.overdue <= counts.alive) return end_blindness(now, changes);
  const Millis lasts = now - blind_since_;
  const bool waited = lasts > options_.blind_most;
  const bool names = lasts > options_.names_most && 2 * counts.met_overdue <= counts.met;
  if (!waited && !names) return;
  for (auto& [name, agent] : agents_)
    if (!agent.lost && now - agent.heard > options_.lost_after && (waited || !agent.met))
      lose(now, name, agent, changes);
  end_blindness(now, changes);
}

void Liveness::end_blindness(Millis now, std::vector<Change>& changes) {
  note_away(now, options_.overdue_after, changes);
  const Counts counts = count(now, false);
  blind_ = false;
  quiet_since_ = now;
  quiet_until_ = now + options_.grace;
  changes.push_back({Change::Kind::sighted, {}, {}, counts.overdue, counts.alive});
}

}  // namespace l4::receive
