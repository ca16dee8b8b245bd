#include "aggregator/scoring/presence.h"

#include <algorithm>

namespace l4::scoring {

/// Changes the state of an agent. If its logs were fully read until now, the gap begins now.
Presence::Agent& Presence::agent(const std::string& name, Is is, TimeMs now) {
  const auto [at, fresh] = agents_.try_emplace(name);
  Agent& known = at->second;
  if (fresh || is_whole(known, now)) known.since = now;
  known.is = is;
  known.changed = now;
  return known;
}

void Presence::on(const receive::AgentEvent& event) {
  using Kind = receive::AgentEvent::Kind;
  switch (event.kind) {
    case Kind::hello:
    case Kind::back:
      return connected(event.agent, event.at);
    case Kind::behind:
    case Kind::level:
      return behind(event.agent, event.kind == Kind::behind, event.at);
    case Kind::left:
      return left(event.agent, event.at);
    case Kind::lost:
      return lost(event.agent, event.at);
    case Kind::blind:
      return blind(event.heard, event.at);
    case Kind::sighted:
      return sighted(event.at);
    case Kind::away:
      return away(event.agent, event.heard, event.at);
    case Kind::name_twice:
      return;
  }
}

void Presence::expect(const std::string& name, TimeMs heard, TimeMs now) {
  Agent& known = agent(name, Is::expected, heard);
  known.since = std::max(heard, known.since.value_or(heard));
  known.changed = now;
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

void Presence::away(const std::string& name, TimeMs heard, TimeMs now) {
  const auto at = agents_.find(name);
  const bool whole = at == agents_.end() || is_whole(at->second, now);
  Agent& known = agent(name, Is::away, now);
  if (whole) known.since = heard;
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
  // A missing agent delays the time that counts as seen for `most` at the longest.
  if (known.is != Is::away && now - known.changed > options_.most) return now;
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

void Presence::save(ByteWriter& out, const std::function<bool(const std::string&)>& wanted) const {
  const auto put = [&](TimeMs time) { out.signed_number(time.time_since_epoch().count()); };
  out.byte(blind_ ? 1 : 0);
  for (const auto& [name, agent] : agents_) {
    if (!wanted(name)) continue;
    out.text(name);
    out.byte(static_cast<std::uint8_t>(agent.is));
    out.byte(agent.behind ? 1 : 0);
    out.byte(agent.since ? 1 : 0);
    put(agent.whole_from);
    put(agent.since.value_or(TimeMs{}));
    put(agent.changed);
  }
  out.text({});
}

void Presence::load(ByteReader& in) {
  const auto time = [&] { return TimeMs{Millis{in.signed_number()}}; };
  agents_.clear();
  blind_ = in.byte() != 0;
  for (std::string name = in.text(); in.ok() && !name.empty(); name = in.text()) {
    Agent& agent = agents_[name];
    const std::uint8_t is = in.byte();
    if (is > static_cast<std::uint8_t>(Is::away)) return in.fail();
    agent.is = static_cast<Is>(is);
    agent.behind = in.byte() != 0;
    const bool since = in.byte() != 0;
    agent.whole_from = time();
    agent.since = time();
    if (!since) agent.since.reset();
    agent.changed = time();
  }
}

}  // namespace l4::scoring
