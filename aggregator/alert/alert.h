// What people are told when something happens, and the two forms in which it is sent.
//
// Flow: aggregator/live makes alerts of incidents and of its own blindness; alert::Alerter sends
// them. docs/OPERATIONS.md shows the JSON (schema l4.alert/1). Plain values, no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"

namespace l4::alert {

enum class Kind : std::uint8_t {
  opened,      ///< an incident, or the same one again after it was resolved
  changed,     ///< another state, or another node first
  resolved,    ///< the job goes on, or ended well
  blind,       ///< the aggregator hears too few agents to say anything of nodes
  sighted,     ///< that is over
  name_twice,  ///< one node's name from two addresses
};
std::string_view name(Kind kind);

struct Fault {
  std::string id, title, fix;
};

struct Alert {
  Kind kind = Kind::opened;
  TimeMs at{};
  std::string incident, job;  ///< empty where it is about no job
  std::int32_t attempt = 0;
  State state = State::unknown;
  double confidence = 0;
  std::optional<TimeMs> since;
  Stage stage = Stage::unknown;
  std::optional<Iteration> iteration;
  std::string summary;             ///< a sentence
  std::vector<std::string> nodes;  ///< suspected, first first; at most 8
  std::vector<Rank> ranks;         ///< likewise
  std::vector<Fault> faults;       ///< known ones, at most 3
};

/// One line, harmless on a terminal.
std::string to_line(const Alert& alert);
std::string to_json(const Alert& alert, const std::string& source);

}  // namespace l4::alert
