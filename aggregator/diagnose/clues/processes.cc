#include <algorithm>
#include <csignal>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/diagnose/findings/exits.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/clues.h"

namespace l4::diagnose::clues {
namespace {

using wire::Exit;
using wire::ProcessFact;

/// A fate that most ranks share singles no rank out.
bool is_shared(const Scene& scene, Fate fate) {
  const auto count = std::ranges::count(scene.findings.processes.ranks, fate);
  const auto all = static_cast<std::ptrdiff_t>(scene.view().training_ranks());
  return count * 2 > std::max(all, count + 1);
}

Clue clue_of_exit(const Scene& scene, std::uint32_t rank, const ProcessFact& process) {
  const ProcessEvidence& evidence = scene.findings.processes;
  const auto stopped = std::ranges::count(evidence.ranks, Fate::stopped);
  const std::optional<TimeMs>& struck = evidence.first_struck;
  const bool told = process.exit.kind == Exit::Kind::signal && process.exit.value == SIGTERM;
  const bool first =
      stopped == 0 && !told && process.since - *evidence.first_left <= numbers::clues().exit_tie;
  const bool answers = struck && *struck < process.since && !is_struck(process.exit) &&
                       process.exit.kind != Exit::Kind::unseen;
  Clue clue{first ? ClueKind::process_gone : ClueKind::process_followed, Whose::rank, rank,
            first && answers ? scene.scale.shares.answers : 1.0};
  clue.facts = {{FactKind::since, process.since}, {FactKind::exit, wire::text(process.exit)}};
  if (process.exit.kind == Exit::Kind::signal)
    clue.facts.push_back({FactKind::signal, double(process.exit.value)});
  return clue;
}

std::optional<Clue> clue_of(const Scene& scene, std::uint32_t rank) {
  const job::RankView& seen = scene.view().ranks[rank];
  if (seen.launcher || seen.process == nullptr) return std::nullopt;
  const ProcessFact& process = *seen.process;
  const Fate fate = scene.findings.processes.ranks[rank];
  const Facts since{{FactKind::since, process.since}};
  if (fate == Fate::stopped) {
    const bool traced = process.state == wire::ProcessState::traced;
    return Clue{traced ? ClueKind::process_traced : ClueKind::process_stopped,
                Whose::rank,
                rank,
                is_shared(scene, fate) ? 0.0 : 1.0,
                true,
                {},
                since};
  }
  if (fate == Fate::waiting && !is_shared(scene, fate))
    return Clue{ClueKind::process_waits, Whose::rank, rank, 1.0, true, {}, since};
  if (fate == Fate::left_badly) return clue_of_exit(scene, rank, process);
  return std::nullopt;
}

/// A clue of the kind for each training rank of the lost nodes.
std::vector<Clue> of_lost(const Scene& scene, ClueKind kind) {
  std::vector<Clue> clues;
  for (const std::uint32_t node : scene.lost)
    for (const std::uint32_t rank : scene.view().nodes[node].ranks)
      if (!scene.view().ranks[rank].launcher)
        clues.push_back({kind, Whose::rank, rank, 1.0, true, {}, {}});
  return clues;
}

}  // namespace

/// A process that is stopped, or exited before the others, shows where the failure began; later
/// exits were most likely ordered.
std::vector<Clue> processes(const Scene& scene) {
  std::vector<Clue> clues;
  for (std::uint32_t rank = 0; rank < scene.findings.processes.ranks.size(); ++rank)
    if (auto clue = clue_of(scene, rank)) clues.push_back(std::move(*clue));
  if (scene.is_agent_lost())
    std::ranges::move(of_lost(scene, ClueKind::agent_lost), std::back_inserter(clues));
  return clues;
}

/// Nodes whose logs all stop. Where their agents are lost, too, processes() tells of them.
std::vector<Clue> lost_nodes(const Scene& scene) {
  if (scene.is_agent_lost()) return {};
  return of_lost(scene, ClueKind::logs_stopped);
}

}  // namespace l4::diagnose::clues
