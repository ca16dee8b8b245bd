// Which agents are alive, by when they were last heard; and when the silence is our own.
//
// Flow: AgentServer tells what it hears and calls `step`; the changes become events. Rules:
// - silent for `lost_after`: lost;
// - more than half of the living (of at least three) overdue at once: blind, and nobody is lost
//   until `grace` after at least half of them are heard again: silence for longer ends nothing;
// - meanwhile who is silent for `away_after`, or still when it ends, is away until heard or lost;
// - names of before the start that nobody has heard since count for `names_most` of it, and all
//   who are silent for `blind_most`, if anyone at all is heard: they are lost then;
// - for `grace` after the start nobody is lost;
// - but who was heard all the time for `steady` within such a grace, and is silent then, is lost;
// - time in which `step` was not called does not count as anybody's silence.
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
  Millis names_most{600'000};     ///< of a blindness
  Millis blind_most{86'400'000};  ///< likewise
  Millis looked_away{2'000};      ///< a longer pause between two steps was ours
};

class Liveness {
 public:
  struct Change {
    enum class Kind : std::uint8_t { lost, back, away, blind, sighted };
    Kind kind = Kind::lost;
    std::string agent;
    Millis silent{0};                     ///< blind: the longest
    std::size_t overdue = 0, living = 0;  ///< blind and sighted
  };

  Liveness(LivenessOptions options, Millis start);

  /// Known from before a restart: lost if it is not heard within the grace.
  void expect(const std::string& agent);
  void heard(const std::string& agent, Millis now);
  /// Said goodbye: neither alive nor lost.
  void left(const std::string& agent);
  std::vector<Change> step(Millis now);

  bool is_blind() const { return blind_; }
  bool is_lost(const std::string& agent) const;
  std::size_t living() const;

 private:
  struct Agent {
    Millis heard{0};
    Millis since{0};  ///< heard since then without a break
    bool lost = false;
    bool away = false;  ///< silent while we are blind
    bool met = false;   ///< heard since the start
  };
  struct Counts {
    std::size_t alive = 0, overdue = 0;
    std::size_t met = 0, met_overdue = 0;  ///< of those, heard since the start
    Millis longest{0};                     ///< silence
    bool most() const;
  };
  void look(Millis now, std::vector<Change>& changes);
  Counts count(Millis now, bool steady) const;
  bool is_steady(const Agent& agent) const;
  void lose(Millis now, bool steady, std::vector<Change>& changes);
  void lose(Millis now, const std::string& name, Agent& agent, std::vector<Change>& changes);
  void look_blindly(Millis now, std::vector<Change>& changes);
  void note_away(Millis now, Millis after, std::vector<Change>& changes);
  void end_blindness(Millis now, std::vector<Change>& changes);

  LivenessOptions options_;
  Millis start_, stepped_, looked_, quiet_since_, quiet_until_;
  Millis blind_since_{0};
  bool blind_ = false;
  std::map<std::string, Agent> agents_;
  std::vector<Change> back_;
};

}  // namespace l4::receive
