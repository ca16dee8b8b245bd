// The evidence in a kernel message with the process that it concerns: a plain value for the wire.
//
// Flow: KernelRecord -> read_evidence -> the process that had the pid at that time (ProcessWatch)
// -> the agent, which ships it beside the line. A watched process gives node, job, attempt and
// rank; a data loader worker gives those of its rank. Other evidence is about the host, without a
// rank. Pure; texts are bounded as in kernel_evidence.h.
#pragma once

#include <optional>
#include <string>

#include "agent/host/kernel_evidence.h"
#include "agent/host/kernel_log.h"
#include "agent/host/process_watch.h"

namespace l4::host {

struct KernelFact {
  std::string boot_id;
  std::uint64_t sequence = 0;  ///< number of the message; unique together with `boot_id`
  TimeMs time;
  Level level = Level::unknown;
  KernelEvidence evidence;
  std::string node, job;
  std::int32_t attempt = 0;
  std::optional<Rank> rank;
  std::optional<SinceBoot> started;  ///< start of the process, if the message names a watched one
};

/// Empty if the message is not evidence. `host_node`: the node of evidence that names no process.
std::optional<KernelFact> kernel_fact(const KernelRecord& record, const ProcessWatch& watch,
                                      const std::string& host_node);

}  // namespace l4::host
