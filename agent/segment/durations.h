// Finds the times that programs print without a rule pack that names them: "load 8012 ms",
// "data_time=0.02", "batch loaded seconds=0.9".
//
// Place in the flow: agent/pipeline calls find_durations once for each template, with its first
// message, and keeps the answer; read_duration runs for each line of such a template, without
// allocation. A number is a time if a unit stands behind it, or if its name ends in a word for a
// time or a unit. Whether it keeps the pace of the iterations is judged later, by the segmenter and
// the aggregator. Stateless but for the hints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/segment/rule_pack.h"
#include "common/base/outline.h"
#include "common/wire/definitions.h"

namespace l4::segment {

inline constexpr std::size_t kDurationNameMax = 48;  ///< bytes of a name
inline constexpr std::size_t kDurationsMax = 4;      ///< of a template

/// A time of a template's lines.
struct Duration {
  std::string name;
  wire::TimerKind kind = wire::TimerKind::mixed;
  double ms_per_unit = 1;
  std::string before;     ///< the text in front of the number
  std::string unit;       ///< stands behind the number; empty if the name tells
  std::uint16_t id = 0;   ///< of the timer in batches; the pipeline gives it
  mutable ReadHint hint;  ///< where `before` was
};

/// At most kDurationsMax, in the order of the message.
std::vector<Duration> find_durations(std::string_view message);

/// In ms, > 0; empty if the line has no such time.
std::optional<double> read_duration(std::string_view message, const Duration& duration,
                                    const Outline& outline);

}  // namespace l4::segment
