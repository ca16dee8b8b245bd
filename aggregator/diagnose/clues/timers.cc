#include <set>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/job/view.h"

namespace l4::diagnose::clues {

/// Ranks that held the others up, or began long after them: each once.
std::vector<Clue> delays(const Scene& scene) {
  using detect::delay::DelayKind;
  std::set<std::uint32_t> ranks;
  for (const detect::delay::Delay& delay : scene.findings.delays)
    if (delay.rank) ranks.insert(*delay.rank);
  const double strength = rarity(ranks.size(), scene.view().training_ranks());
  std::vector<Clue> clues;
  for (const detect::delay::Delay& delay : scene.findings.delays) {
    if (!delay.rank || ranks.erase(*delay.rank) == 0) continue;
    const ClueKind kind = delay.kind == DelayKind::late_start   ? ClueKind::late_start
                          : delay.kind == DelayKind::slow_phase ? ClueKind::slow_phase
                                                                : ClueKind::held_up;
    Clue clue{kind, Whose::rank, *delay.rank, strength};
    clue.facts = {{FactKind::ms, delay.ms}, {FactKind::usual_ms, delay.usual_ms}};
    if (!delay.phase.empty()) clue.facts.push_back({FactKind::timer, delay.phase});
    clues.push_back(std::move(clue));
  }
  return clues;
}

std::vector<Clue> drags(const Scene& scene) {
  const auto& slowdown = scene.findings.slowdown;
  std::vector<Clue> clues;
  if (!slowdown.found || slowdown.drags.empty()) return clues;
  const double most = slowdown.drags.front().score;
  for (const detect::slow::Drag& drag : slowdown.drags) {
    Clue clue{ClueKind::dragged, Whose::rank, drag.rank, drag.score / most};
    clue.told = drag.score * 2 > most;
    clue.facts = {{FactKind::timer, drag.timer},
                  {FactKind::usual_ms, drag.before_ms},
                  {FactKind::ms, drag.after_ms}};
    clues.push_back(std::move(clue));
  }
  return clues;
}

}  // namespace l4::diagnose::clues
