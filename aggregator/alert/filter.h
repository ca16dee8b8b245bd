// The alerts that a sink or a silence matches.
//
// Each field that is given must match, one of its words is enough, and no field at all matches
// every alert. Job, state, node, fault and category are properties of incidents. Alerts about the
// whole fleet (blind, degraded) have none of them, so a filter with such a field matches them only
// if `topics` names their topic. An alert about a name used twice has a node. A sink gets notices
// only if `topics` names them; a silence of a job holds back its notices, too. Plain values, pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/alert/alert.h"

namespace l4::alert {

enum class Topic : std::uint8_t { incident, blind, degraded, name_twice, storm, notice };
inline constexpr std::size_t kTopics = 6;
std::string_view name(Topic topic);
Topic topic(Kind kind);

struct AlertFilter {
  std::vector<std::string> jobs{};  ///< shell patterns (shell_pattern.h), as are all texts below
  std::vector<State> states{};
  std::vector<Topic> topics{};
  std::vector<std::string> nodes{};       ///< the first suspected node
  std::vector<std::string> faults{};      ///< id of the most likely fault
  std::vector<std::string> categories{};  ///< category of that fault
  bool operator==(const AlertFilter&) const = default;
};

/// `as`: the alert is sent by itself, or stands for several incidents that are sent together.
bool matches(const AlertFilter& filter, const Alert& alert, Topic as);
/// Whether a silence with this filter holds the alert back.
bool silences(const AlertFilter& filter, const Alert& alert);
/// Judges by those fields alone that stay the same from the beginning of an alert to its end.
bool may_match(const AlertFilter& filter, const Alert& alert, Topic as);

}  // namespace l4::alert
