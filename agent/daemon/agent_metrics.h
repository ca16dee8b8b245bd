// The agent's figures as Prometheus reads them: the present totals, rendered once.
//
// Used by Agent::metrics, for MetricsPage. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "agent/daemon/intake.h"
#include "agent/daemon/raw_lines.h"
#include "agent/host/limits.h"
#include "agent/nic/nic_watch.h"
#include "agent/ship/session.h"
#include "agent/tail/tailer.h"

namespace l4::daemon {

struct AgentFigures {
  const ship::Session& session;
  const ship::QueueOptions& queue_bounds;
  const tail::Counters& tail;
  const Intake::Counts& intake;
  const host::Limits& limits;
  const RawLines::Counts& raw_lines;
  const Jobs& jobs;
  std::uint64_t lines_committed = 0, kernel_lines = 0;
  nic::NicWatch::Counts nics = {};
  std::uint64_t nic_news_dropped = 0;
  bool reading = false;
};

std::string render(const AgentFigures& figures);

}  // namespace l4::daemon
