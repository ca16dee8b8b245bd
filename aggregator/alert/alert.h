// What people are told when something happens, as a line and as JSON (schema l4.alert/1).
//
// Flow: aggregator/live makes alerts of incidents and of its own state; alert::Alerter sends
// them to its sinks, whose forms stand in sink.h. docs/OPERATIONS.md shows the JSON. Plain values,
// no state.
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
  storm,       ///< many incidents at once, told together
  storm_over,  ///< all of those are resolved
  degraded,    ///< the aggregator cannot do its work: journal, database or a thread
  well_again,  ///< that is over
};
std::string_view name(Kind kind);

enum class Severity : std::uint8_t { info, warning, critical };
std::string_view name(Severity severity);

struct Fault {
  std::string id, title, fix, cause, category;
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
  std::string summary;                 ///< a sentence
  std::vector<std::string> nodes;      ///< suspected, first first; at most 8
  std::vector<Rank> ranks;             ///< likewise
  std::vector<Fault> faults;           ///< known ones, at most 3
  std::vector<std::string> incidents;  ///< of a storm
};

/// Critical where a job stands still or the aggregator cannot work, warning where it is slow or
/// nodes cannot be seen.
Severity severity(const Alert& alert);
/// It ends what was told under the same key.
bool is_over(const Alert& alert);
/// What stays the same from its beginning to its end: the incident, or what stands for it.
std::string key(const Alert& alert);

/// One line, harmless on a terminal.
std::string to_line(const Alert& alert);
std::string to_json(const Alert& alert, const std::string& source);

}  // namespace l4::alert
