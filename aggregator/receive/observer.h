// The events about agents that AgentServer publishes to the rest of the aggregator.
//
// Called on the server's thread from within `step`. `notice` is for the log and already limited to
// one line per kind and address in ten minutes; everything is counted in ServerStats besides.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/time.h"
#include "common/wire/control.h"

namespace l4::receive {

struct AgentEvent {
  enum class Kind : std::uint8_t {
    hello,       ///< connected, or connected again
    left,        ///< said goodbye: the agent was stopped, the node is not lost
    lost,        ///< silent for too long
    back,        ///< heard again after it was lost
    behind,      ///< holds more than a window of batches: the aggregator's picture is old
    level,       ///< the end of `behind`
    blind,       ///< more than half of the agents fell silent at once: the aggregator is cut off
    sighted,     ///< most agents are heard again
    name_twice,  ///< two living agents at two addresses use one name
    away,        ///< silent during a blindness or at its end: back or lost comes later
  };
  Kind kind = Kind::hello;
  std::string agent;  ///< empty for blind and sighted
  std::string address;
  std::string detail;
  TimeMs at{};
  TimeMs heard{};  ///< last time that the agent was heard (lost, away), or all agents (blind)
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void event(const AgentEvent& event) = 0;
  virtual void notice(const std::string& text) = 0;
  virtual void answered(const std::string& agent, const wire::Answer& answer) = 0;
};

}  // namespace l4::receive
