// What a demo asks its aggregator.
//
// Flow: play.cc -> here -> tools/l4/ask. Blocking, for a moment: both are on this machine. An
// answer that does not come is no answer; the crew says if the aggregator is gone. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "aggregator/diagnose/report.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/ask/live_json.h"

namespace l4::commands::demo {

/// Agents that are connected.
std::size_t connected_agents(const ask::Aggregator& asked);

struct Taken {
  std::uint64_t lines = 0;         ///< of all jobs
  std::optional<ask::JobRow> job;  ///< the one with most lines
};
std::optional<Taken> taken_lines(const ask::Aggregator& asked);

ask::Answer<diagnose::Report> fetch_report(const ask::Aggregator& asked, const std::string& job);

}  // namespace l4::commands::demo
