// The time up to which an agent's logs were read: silence during an unread time does not count.
// Flow: a shard passes the events of agents; its jobs use the earliest `seen_until` of their agents
// as "now" in verdicts and triggers. The time of an agent stands still while it is neither
// connected nor lost (it was stopped, or the aggregator has just started), while it has much to
// ship, while the aggregator is blind, and for a moment after it has connected: each for at most
// `most`. An agent that has been silent since the aggregator became blind is away: its time stands
// still until it is heard or lost, however long that takes. The time of a lost agent goes on, so
// that its silence shows the lost node. Bounds: agents that say goodbye or are lost leave after
// `most`. One thread, no clock.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "aggregator/receive/observer.h"
#include "common/base/byte_stream.h"
#include "common/base/time.h"

namespace l4::scoring {

struct PresenceOptions {
  Millis most{600'000};
  Millis settles{5'000};  ///< time after an agent has connected
  Millis sights{30'000};  ///< time from the end of a blindness until its agents count as back
};

class Presence {
 public:
  explicit Presence(PresenceOptions options = {}) : options_(options) {}

  /// Applies an event of one agent, or of all.
  void on(const receive::AgentEvent& event);

  /// The aggregator restarts `now` and knows this agent from before; it was last heard at `heard`.
  void expect(const std::string& agent, TimeMs heard, TimeMs now);
  void connected(const std::string& agent, TimeMs now);
  void behind(const std::string& agent, bool is, TimeMs now);
  void left(const std::string& agent, TimeMs now);
  void lost(const std::string& agent, TimeMs now);
  void away(const std::string& agent, TimeMs heard, TimeMs now);

  /// The aggregator is blind: no agent counts as seen since `heard`, until `sights` after the end.
  void blind(TimeMs heard, TimeMs now);
  void sighted(TimeMs now);

  TimeMs seen_until(const std::string& agent, TimeMs now) const;
  bool is_lost(const std::string& agent) const;
  bool knows(const std::string& agent) const { return agents_.contains(agent); }
  void forget_old(TimeMs now);

  /// Saves the state of the agents for which `wanted` holds.
  void save(ByteWriter& out, const std::function<bool(const std::string&)>& wanted) const;
  /// Replaces the state; the reader fails if the bytes are unusable.
  void load(ByteReader& in);

 private:
  enum class Is : unsigned char { present, expected, left, lost, away };
  struct Agent {
    Is is = Is::present;
    bool behind = false;
    TimeMs whole_from{};            ///< present: all its logs are read from then on
    std::optional<TimeMs> since{};  ///< the logs are not fully read since then
    TimeMs changed{};
  };
  Agent& agent(const std::string& name, Is is, TimeMs now);
  bool is_whole(const Agent& agent, TimeMs now) const {
    return agent.is == Is::present && !agent.behind && !blind_ && now >= agent.whole_from;
  }

  PresenceOptions options_;
  bool blind_ = false;
  std::map<std::string, Agent> agents_;
};

}  // namespace l4::scoring
