// Which agents are alive, by when they were last heard, and when the aggregator itself is cut off.
//
// Flow: AgentServer calls `heard` and `step`; the changes become events. Rules:
// - An agent is lost when it is silent for `lost_after`.
// - If more than half of the living agents (of at least three) are overdue at once, the aggregator
//   is blind. No agent is lost then until `grace` after at least half of them are heard again; a
//   longer silence does not end the blindness.
// - During a blindness an agent that is silent for `away_after`, or at its end, is away until it is
//   heard or lost.
// - If at least one agent is heard, silent agents do not keep the blindness up forever: they are
//   lost after `names_most` if they were not heard since the start, else after `blind_most`.
// - For `grace` after the start no agent is lost, except one that was heard without a break for
//   `steady` within the grace and then fell silent.
// - Time in which `step` was not called does not count as silence of an agent.
// Pure, no clock. Cost of a step: the number of agents, at most four times a second.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace l4::receive {

struct LivenessOptions {
  Millis lost_after{11'000};
  Millis overdue_after{5'000};  ///< more than a heartbeat
  Millis grace{60'000};
  Millis steady{10'000};
  Millis away_after{300'000};     ///< less than scoring::PresenceOptions::most
  Millis names_most{600'000};     ///< longest blindness for agents not heard since the start
  Millis blind_most{86'400'000};  ///< longest blindness for all agents
  Millis step_pause_max{2'000};   ///< a longer pause between steps is no silence of agents
};

class Liveness {
 public:
  struct Change {
    enum class Kind : std::uint8_t { lost, back, away, blind, sighted };
    Kind kind = Kind::lost;
    std::string agent;
    Millis silent{0};                     ///< blind: longest silence
    std::size_t overdue = 0, living = 0;  ///< counts for blind and sighted
  };

  Liveness(LivenessOptions options, Millis start);

  /// An agent from before a restart: it is lost if it is not heard within the grace.
  void expect(const std::string& agent);
  void heard(const std::string& agent, Millis now);
  /// The agent said goodbye: it is neither alive nor lost.
  void left(const std::string& agent);
  std::vector<Change> step(Millis now);

  bool is_blind() const { return blind_; }
  bool is_lost(const std::string& agent) const;
  std::size_t living() const;

 private:
  struct Contact {
    Millis heard{0};
    Millis since{0};  ///< heard since then without a break
    bool lost = false;
    bool away = false;  ///< silent during a blindness
    bool met = false;   ///< heard since the start
  };
  struct Counts {
    std::size_t alive = 0, overdue = 0;
    std::size_t met = 0, met_overdue = 0;  ///< among the agents heard since the start
    Millis longest{0};                     ///< longest silence
    bool most() const;
  };
  void scan(Millis now, std::vector<Change>& changes);
  Counts count(Millis now, bool steady) const;
  bool is_steady(const Contact& agent) const;
  void lose(Millis now, bool steady, std::vector<Change>& changes);
  void lose(Millis now, const std::string& name, Contact& agent, std::vector<Change>& changes);
  void scan_blind(Millis now, std::vector<Change>& changes);
  void note_away(Millis now, Millis after, std::vector<Change>& changes);
  void end_blindness(Millis now, std::vector<Change>& changes);

  LivenessOptions options_;
  Millis start_, stepped_, scanned_, quiet_since_, quiet_until_;
  Millis blind_since_{0};
  bool blind_ = false;
  std::map<std::string, Contact> agents_;
  std::vector<Change> back_;
};

}  // namespace l4::receive
