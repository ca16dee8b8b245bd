// Says a thing once per kind and address, and how often it came since when it is said again.
//
// Used by AgentServer for everything that is turned away. Bounds: 1,024 addresses in ten minutes,
// the rest under one name; one line each in that time. One thread, no clock.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/time.h"
#include "common/wire/port.h"

namespace l4::receive {

class Notices {
 public:
  /// Counts it; the line to log, if it is time for one.
  std::optional<std::string> note(const wire::Refused& refused, Millis now);
  const std::array<std::uint64_t, wire::kRefusals>& counts() const { return counts_; }

 private:
  struct Entry {
    Millis said{0};
    std::uint64_t since = 0;  ///< how often since then
  };
  std::map<std::pair<wire::Refusal, std::string>, Entry> entries_;
  std::array<std::uint64_t, wire::kRefusals> counts_{};
  Millis pruned_{0};
};

}  // namespace l4::receive
