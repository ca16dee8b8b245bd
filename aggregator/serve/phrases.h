// Numbers as texts in reports: certainty in words, counts, sizes, rank ranges, times of day.
//
// Thread-safe, no state; used by reports and by the tables of `l4`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/grouped.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"

namespace l4::serve {

/// "almost certain", "very likely", "likely", "possible", "unlikely".
std::string_view certainty(double probability);
/// "94 %"; from 1 to 99, because it is an estimate.
std::string percent(double probability);

using l4::grouped;  ///< 18,233,102
/// "1 node", "7 nodes"
std::string counted(std::uint64_t number, std::string_view noun);
/// "3 B", "4.2 GB"
std::string sized(std::uint64_t bytes);
/// "rank 7", "ranks 0-7, 9 and 12 more"; empty for none.
std::string ranks_text(std::vector<Rank> ranks, std::size_t ranges_max);
/// One unit, rounded: "52 s", "2 min", "12 h"; for lines with many times.
std::string brief(Millis span);
/// A word with underscores as text: "checkpoint save".
std::string spoken(std::string_view word);

/// "CRASHED", "LAUNCH FAILED"
std::string_view headline(State state);
/// "one rank", "all nodes"; empty if there is no scope.
std::string_view spoken(Scope scope);

/// False if the year has more than the four digits of RFC 3339; such a time is treated as none.
bool is_sayable(TimeMs time);
/// The time from `begin` to `end`; empty if one is missing or has a year beyond four digits, or if
/// `end` comes first.
std::optional<Millis> between(std::optional<TimeMs> begin, std::optional<TimeMs> end);
/// The time of day if `time` is on the day of `reference`, otherwise date and time.
std::string time_text(TimeMs time, std::optional<TimeMs> reference);

}  // namespace l4::serve
