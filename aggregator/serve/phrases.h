// How a report says numbers: certainty in words, counts, sizes, rank ranges, times of day.
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
/// "94 %"; never 0 or 100, which nobody knows.
std::string percent(double probability);

using l4::grouped;  ///< 18,233,102
/// "1 node", "7 nodes"
std::string counted(std::uint64_t number, std::string_view noun);
/// "3 B", "4.2 GB"
std::string sized(std::uint64_t bytes);
/// "rank 7", "ranks 0-7, 9 and 12 more"; empty for none.
std::string ranks_text(std::vector<Rank> ranks, std::size_t ranges_max);
/// One unit, rounded: "52 s", "2 min", "12 h", for where a line has many.
std::string brief(Millis span);
/// Words of a list whose spelling has underscores: "checkpoint save".
std::string spoken(std::string_view word);

/// "CRASHED", "LAUNCH FAILED"
std::string_view headline(State state);
/// "one rank", "all nodes"; empty where there is none.
std::string_view spoken(Scope scope);

/// False past the four digits that RFC 3339 has for the year: as good as no time.
bool is_sayable(TimeMs time);
/// From `begin` to `end`; empty if one is missing or not sayable, or `end` comes first.
std::optional<Millis> between(std::optional<TimeMs> begin, std::optional<TimeMs> end);
/// Time of day if it is on the day of `reference`, else all of it.
std::string time_text(TimeMs time, std::optional<TimeMs> reference);

}  // namespace l4::serve
