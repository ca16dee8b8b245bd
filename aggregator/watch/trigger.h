// Reasons to diagnose a running job, as aggregator/watch gives them to its caller. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::watch {

enum class Cause : std::uint8_t {
  error_line,       ///< a line that is new to the job and worded as a failure
  process_left,     ///< a rank's process ended, and not well
  process_stopped,  ///< stopped by a signal, or waiting for a device for long
  silent,           ///< no progress past the deadline
  node_lost,        ///< its agent, or all it prints, is gone while others go on
  slower,
  node_differs,  ///< what a node prints differs from its past and its peers
  network,       ///< the network shows that it stands still or is slow
  ended,         ///< it may have ended well
  went_on,       ///< progress after one of the reasons above
};
inline constexpr std::size_t kCauses = 10;

struct Trigger {
  Cause cause = Cause::error_line;
  TimeMs evidence;  ///< when it happened or was received, on the aggregator's clock
  std::string node;
  std::optional<Rank> rank;
  std::string detail;      ///< one sentence, at most some 200 B
  bool confirmed = false;  ///< silent: past the second deadline, or other evidence beside it
};

std::string_view name(Cause cause);

}  // namespace l4::watch
