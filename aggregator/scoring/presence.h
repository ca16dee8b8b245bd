// The time up to which an agent's logs were read: silence during an unread time does not count.
//
// Flow: a shard tells what it hears of agents; its jobs take the earliest `seen_until` of their
// agents for "now" in verdicts and triggers. Time stands still for an agent that is not connected
// and not lost (it was stopped, or the aggregator has just started), while it still has much to
// tell, while the aggregator is blind, and for a moment after it has come: each for at most `most`.
// One that is silent since the aggregator is blind is away: it holds time until it is heard or
// lost, however long that takes. A lost agent holds nothing up: node loss is just that. Bounds:
// agents that say goodbye or are lost leave after `most`. One thread, no clock.
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
  Millis settles{5'000};  ///< after it has connected
  Millis sights{30'000};  ///< after the aggregator was blind, until all are back
};

class Presence {
 public:
  explicit Presence(PresenceOptions options = {}) : options_(options) {}

  /// Applies an event of one agent, or of all.
  void on(const receive::AgentEvent& event);

  /// Known from before a restart, which is now; last heard then.
  void expect(const std::string& agent, TimeMs heard, TimeMs now);
  void connected(const std::string& agent, TimeMs now);
  void behind(const std::string& agent, bool is, TimeMs now);
  void left(const std::string& agent, TimeMs now);
  void lost(const std::string& agent, TimeMs now);
  void away(const std::string& agent, TimeMs heard, TimeMs now);

  /// No agent counts as seen since `heard`, until a while after the end.
  void blind(TimeMs heard, TimeMs now);
  void sighted(TimeMs now);

  TimeMs seen_until(const std::string& agent, TimeMs now) const;
  bool is_lost(const std::string& agent) const;
  bool knows(const std::string& agent) const { return agents_.contains(agent); }
  void forget_old(TimeMs now);

  /// The earliest time of the agents for which `wanted` holds.
  void save(ByteWriter& out, const std::function<bool(const std::string&)>& wanted) const;
  /// Replaces the state; the reader fails if the bytes are unusable.
  void load(ByteReader& in);

 private:
  enum class Is : unsigned char { present, expected, left, lost, away };
  struct Agent {
    Is is = Is::present;
    bool behind = false;
    TimeMs whole_from{};            ///< present: settled from then on
    std::optional<TimeMs> since{};  ///< it was not seen whole since
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
