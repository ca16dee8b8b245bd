// Limits the log lines about refusals to one per kind and address in ten minutes; the next line
// says how many came in between.
//
// Used by AgentServer for everything that it refuses. Bounds: 1,024 addresses in ten minutes;
// further addresses share one entry. One thread, no clock.
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
  /// Counts the refusal; returns the line to log, if one is due.
  std::optional<std::string> note(const wire::Refused& refused, Millis now);
  const std::array<std::uint64_t, wire::kRefusals>& counts() const { return counts_; }

 private:
  struct Entry {
    Millis said{0};
    std::uint64_t since = 0;  ///< refusals since then
  };
  std::map<std::pair<wire::Refusal, std::string>, Entry> entries_;
  std::array<std::uint64_t, wire::kRefusals> counts_{};
  Millis pruned_{0};
};

}  // namespace l4::receive
