// An alert: what people are sent when something happens, as a line and as JSON (schema l4.alert/1).
//
// Flow: the live aggregator makes alerts of incidents and of its own state; alert::Alerter sends
// them to its sinks (sink_kind.h). docs/ALERTS.md shows the JSON. Plain values, no state.
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
  opened,       ///< an incident, or the same one again after it was resolved
  changed,      ///< another state, or another first node
  resolved,     ///< the job goes on, or ended well
  blind,        ///< the aggregator hears too few agents to judge nodes
  sighted,      ///< the end of `blind`
  name_twice,   ///< two addresses use the name of one node
  storm,        ///< many incidents at once, in one alert
  storm_over,   ///< all incidents of a storm are resolved
  degraded,     ///< the aggregator cannot do its work: journal, database or a thread
  well_again,   ///< the end of `degraded`
  noticed,      ///< something differs that harms nothing; only sinks get it that ask for notices
  notice_over,  ///< the end of `noticed`
  test,         ///< nothing has failed: a person tries the sinks
  test_over,    ///< the end of `test`, for sinks that keep alerts open until then
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
  std::string incident, job;  ///< empty if the alert is about no job
  std::string notice;         ///< id of a notice; empty if it is about none
  std::int32_t attempt = 0;
  State state = State::unknown;
  double confidence = 0;
  std::optional<TimeMs> since;
  Stage stage = Stage::unknown;
  std::optional<Iteration> iteration;
  std::string summary;                 ///< a sentence
  std::vector<std::string> nodes;      ///< suspected, most suspected first; at most 8
  std::vector<Rank> ranks;             ///< suspected, most suspected first; at most 8
  std::vector<Fault> faults;           ///< known ones, at most 3
  std::vector<std::string> incidents;  ///< ids of a storm's incidents
};

/// Who sends alerts, and where people read what they mean: an address or a path.
struct Origin {
  std::string source;
  std::string runbook = "docs/ALERTS.md";
  std::string page = {};  ///< address of the page, without a slash at its end; empty: not known
};

/// Critical if a job stands still or the aggregator cannot work, warning if a job is slow or nodes
/// cannot be seen.
Severity severity(const Alert& alert);
/// True if the alert ends the open alert with the same key.
bool is_over(const Alert& alert);
/// The same for all alerts of one incident or condition: the incident's or the notice's id, or the
/// condition.
std::string key(const Alert& alert);

/// Where the page shows what the alert is about: its incident, its job, or a list; empty if the
/// address of the page is not known.
std::string link(const Alert& alert, const Origin& from);

/// One line, safe on a terminal.
std::string to_line(const Alert& alert);
std::string to_json(const Alert& alert, const Origin& from);

}  // namespace l4::alert
