#include "agent/host/kernel_fact.h"

namespace l4::host {

std::optional<KernelFact> kernel_fact(const KernelRecord& record, const ProcessWatch& watch,
                                      const std::string& host_node) {
  if (!record.kernel) return std::nullopt;
  auto evidence = read_evidence(record.text);
  if (!evidence) return std::nullopt;
  KernelFact fact;
  fact.boot_id = watch.boot_id();
  fact.sequence = record.sequence;
  fact.time = record.time;
  fact.level = record.level;
  fact.evidence = std::move(*evidence);
  fact.node = host_node;
  const auto* process =
      fact.evidence.pid ? watch.find(*fact.evidence.pid, record.since_boot) : nullptr;
  if (process == nullptr) return fact;
  if (!process->fact.node.empty()) fact.node = process->fact.node;
  fact.job = process->fact.job;
  fact.attempt = process->fact.attempt;
  fact.rank = process->fact.rank;
  fact.started = process->fact.started_boot;
  return fact;
}

}  // namespace l4::host
