#include "aggregator/live/presence.h"

#include <algorithm>

namespace l4::live {

/// Whoever was whole until now is not any more, unless it stays present.
Presence::Agent& Presence::agent(const std::string& name, Is is, TimeMs now) {
  const auto [at, fresh] = agents_.try_emplace(name);
  Agent& known = at->second;
  if (fresh || is_whole(known, now)) known.since = now;
  known.is = is;
  known.changed = now;
  return known;
}

void Presence::expect(const std::string& name, TimeMs heard) {
  Agent& known = agent(name, Is::expected, heard);
  known.since = std::max(heard, known.since.value_or(heard));
}

void Presence::connected(const std::string& name, TimeMs now) {
  agent(name, Is::present, now).whole_from = now + options_.settles;
}

void Presence::behind(const std::string& name, bool is, TimeMs now) {
  const auto at = agents_.find(name);
  if (at == agents_.end()) return;
  if (is && is_whole(at->second, now)) at->second.since = now;
  if (is) at->second.changed = now;
  at->second.behind = is;
}

void Presence::left(const std::string& name, TimeMs now) {
  agent(name, Is::left, now);
}

void Presence::lost(const std::string& name, TimeMs now) {
  agent(name, Is::lost, now);
}

void Presence::blind(TimeMs heard, TimeMs now) {
  for (auto& [name, known] : agents_) {
    if (known.is != Is::present) continue;
    if (is_whole(known, now)) known.since = heard;
    known.changed = now;
  }
  blind_ = true;
}

void Presence::sighted(TimeMs now) {
  blind_ = false;
  for (auto& [name, known] : agents_)
    if (known.is == Is::present)
      known.whole_from = std::max(known.whole_from, now + options_.sights);
}

TimeMs Presence::seen_until(const std::string& name, TimeMs now) const {
  const auto at = agents_.find(name);
  if (at == agents_.end()) return now;
  const Agent& known = at->second;
  if (known.is == Is::lost || is_whole(known, now) || !known.since) return now;
  // Whoever stays away is at some time not waited for any more.
  if (now - known.changed > options_.most) return now;
  return std::min(now, *known.since);
}

bool Presence::is_lost(const std::string& name) const {
  const auto at = agents_.find(name);
  return at != agents_.end() && at->second.is == Is::lost;
}

void Presence::forget_old(TimeMs now) {
  std::erase_if(agents_, [&](const auto& one) {
    const bool away = one.second.is == Is::left || one.second.is == Is::expected;
    return away && now - one.second.changed > options_.most;
  });
}

}  // namespace l4::live
