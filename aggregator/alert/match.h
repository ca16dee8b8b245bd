// Which alerts are meant, by a sink that does not want all or by a silence.
//
// Each field that is given must hold, one of its words is enough, and none given means all. Job,
// state, node, fault and category speak of incidents; what concerns the whole fleet (blind,
// degraded) has none of them, so it is meant only where `topics` names it or none of them is given.
// A name that stands twice has a node. Plain values, pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/alert/alert.h"

namespace l4::alert {

enum class Topic : std::uint8_t { incident, blind, degraded, name_twice, storm };
inline constexpr std::size_t kTopics = 5;
std::string_view name(Topic topic);
Topic topic(Kind kind);

struct Match {
  std::vector<std::string> jobs{};  ///< patterns as of a shell, here and below
  std::vector<State> states{};
  std::vector<Topic> topics{};
  std::vector<std::string> nodes{};       ///< the one that is suspected first
  std::vector<std::string> faults{};      ///< id of the one that is most likely
  std::vector<std::string> categories{};  ///< of the same
  bool operator==(const Match&) const = default;
};

/// As a shell matches names: * and ? and [abc].
bool matches(const std::string& pattern, const std::string& text);

/// `as`: an incident alone, or among those that are told together (which stand for incidents).
bool holds(const Match& match, const Alert& alert, Topic as);
/// By what stays the same from the beginning of an alert to its end.
bool may_hold(const Match& match, const Alert& alert, Topic as);

}  // namespace l4::alert
