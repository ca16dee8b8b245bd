#include "aggregator/diagnose/findings/process_evidence.h"

#include <algorithm>
#include <csignal>

#include "aggregator/detect/stage/stages.h"
#include "aggregator/diagnose/findings/exits.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/findings.h"
#include "common/base/earliest.h"

namespace l4::diagnose {
namespace {

using wire::Exit;
using wire::ProcessState;

Fate fate_of(const wire::ProcessFact& process) {
  switch (process.state) {
    case ProcessState::unknown:
      return Fate::unknown;
    case ProcessState::running:
    case ProcessState::sleeping:
      return Fate::alive;
    case ProcessState::uninterruptible:
      return Fate::waiting;
    case ProcessState::stopped:
    case ProcessState::traced:
      return Fate::stopped;
    case ProcessState::gone:
      break;
  }
  if (process.exit.kind == Exit::Kind::unseen) return Fate::left_unseen;
  return process.exit.is_well() ? Fate::left_well : Fate::left_badly;
}

bool lives(Fate fate) {
  return fate == Fate::alive || fate == Fate::waiting || fate == Fate::stopped;
}

/// The newest launcher of some agent is gone.
bool any_launcher_left(const job::JobState& state) {
  for (const auto& [name, agent] : state.agents()) {
    const wire::ProcessFact* newest = nullptr;
    for (const auto& [key, fact] : agent.processes)
      if (fact.part == wire::Part::launcher &&
          (newest == nullptr || fact.started > newest->started))
        newest = &fact;
    if (newest != nullptr && newest->state == ProcessState::gone) return true;
  }
  return false;
}

bool is_of(const job::JobView& view, std::uint32_t node, const std::string& agent) {
  if (view.nodes[node].name == agent) return true;
  return std::ranges::any_of(view.streams, [&](const job::StreamView& stream) {
    return stream.node == node && stream.agent->name == agent;
  });
}

}  // namespace

ProcessEvidence weigh_processes(const job::JobView& view, const detect::stage::Stages& stages) {
  ProcessEvidence found;
  found.ranks.assign(view.ranks.size(), Fate::unknown);
  for (std::size_t i = 0; i < view.ranks.size(); ++i)
    if (view.ranks[i].process != nullptr) found.ranks[i] = fate_of(*view.ranks[i].process);
  const bool others = std::ranges::any_of(found.ranks, lives);
  bool all_well = true;
  bool all_left = true;
  for (std::size_t i = 0; i < view.ranks.size(); ++i) {
    if (view.ranks[i].launcher) continue;
    Fate& fate = found.ranks[i];
    const bool done = stages.finished[i] || stages.last_of_rank[i] == Stage::exit;
    if (fate == Fate::left_unseen && others && !done) fate = Fate::left_badly;
    all_well &= fate == Fate::left_well;
    all_left &= fate != Fate::unknown && !lives(fate);
    if (fate == Fate::unknown) continue;
    found.known = true;
    if (fate != Fate::left_badly) continue;
    const wire::ProcessFact& process = *view.ranks[i].process;
    found.exit_seen |= process.exit.kind != Exit::Kind::unseen;
    keep_earliest(found.first_left, process.since);
    if (is_struck(process.exit)) keep_earliest(found.first_struck, process.since);
  }
  found.all_left = found.known && all_left;
  found.all_left_well = found.known && all_well;
  found.launcher_left = view.state != nullptr && any_launcher_left(*view.state);
  return found;
}

void forget_processes(job::JobView& view, const std::vector<LostAgent>& lost) {
  for (const LostAgent& agent : lost)
    for (std::uint32_t node = 0; node < view.nodes.size(); ++node)
      if (is_of(view, node, agent.agent))
        for (const std::uint32_t rank : view.nodes[node].ranks) {
          const wire::ProcessFact*& process = view.ranks[rank].process;
          if (process != nullptr && process->state != ProcessState::gone) process = nullptr;
        }
}

std::vector<std::uint32_t> nodes_of_lost(const job::JobView& view, const Live& live) {
  std::vector<std::uint32_t> nodes;
  for (const LostAgent& agent : live.lost) {
    if (agent.late) continue;
    // A reconnected agent first delivers lines from before it was lost; those do not count as
    // progress.
    const bool goes_on =
        !agent.back && live.progress &&
        *live.progress > agent.heard + std::max(numbers::findings().lost_settle, 2 * live.typical);
    for (std::uint32_t node = 0; node < view.nodes.size() && !goes_on; ++node)
      if (is_of(view, node, agent.agent)) nodes.push_back(node);
  }
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  return nodes;
}

}  // namespace l4::diagnose
