// A kernel message that is evidence, and whose: a plain value that can go over the wire.
//
// Flow: KernelRecord -> read_evidence -> whose pid it was at that time (ProcessWatch) -> the agent,
// which ships it beside the line. A pid that is watched gives node, job, attempt and rank, also of
// a data loader worker of that rank; all else is evidence about the host alone, without a rank.
// Pure; texts are bounded as in kernel_evidence.h.
#pragma once

#include <optional>
#include <string>

#include "agent/host/kernel_evidence.h"
#include "agent/host/kernel_log.h"
#include "agent/host/process_watch.h"

namespace l4::host {

struct KernelFact {
  std::string boot_id;
  std::uint64_t sequence = 0;  ///< of the message; with `boot_id` it is told from all others
  TimeMs time;
  Level level = Level::unknown;
  KernelEvidence evidence;
  std::string node, job;
  std::int32_t attempt = 0;
  std::optional<Rank> rank;
  std::optional<SinceBoot> started;  ///< of the process, if one that is watched is named
};

/// None if the message is no evidence. `host_node` is the node of what no process is named for.
std::optional<KernelFact> kernel_fact(const KernelRecord& record, const ProcessWatch& watch,
                                      const std::string& host_node);

}  // namespace l4::host
