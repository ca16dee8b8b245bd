#include <algorithm>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/diagnose/clues/strength.h"
#include "aggregator/job/view.h"

namespace l4::diagnose::clues {
namespace {

using detect::FailureEvent;

/// What one line says of those whom it names, without the one it is said of.
Clue said_by(const Scene& scene, const FailureEvent& failure) {
  const job::JobView& view = scene.view();
  const detect::Accused& accused = scene.findings.hints.accused[failure.event];
  const bool guess = accused.by_peers && scene.findings.hints.events[failure.event].is_echo();
  Clue clue;
  clue.kind = guess ? ClueKind::named_by_peers : ClueKind::blamed;
  clue.strength = strength_of(scene, failure);
  clue.event = failure.event;
  clue.facts = facts_of(view.events[failure.event]);
  clue.facts.push_back({FactKind::peer, view.nodes[view.streams[failure.first_stream].node].name});
  return clue;
}

/// Its training ranks; all of them where there is none, as of an actor in a driver's log.
std::vector<std::uint32_t> blamed_ranks(const job::JobView& view, std::uint32_t node) {
  std::vector<std::uint32_t> ranks = view.nodes[node].ranks;
  const auto is_launcher = [&](std::uint32_t rank) { return view.ranks[rank].launcher; };
  if (!std::ranges::all_of(ranks, is_launcher)) std::erase_if(ranks, is_launcher);
  return ranks;
}

/// Ranks that waited, by their own words, while such words name another one: a launcher that sees
/// them end tells of an effect. By JobView::ranks; all false where nobody is named.
std::vector<bool> find_waiters(const Scene& scene) {
  std::vector<bool> waiters(scene.view().ranks.size(), false);
  bool named = false;
  for (std::size_t line = 0; line < scene.voices.lines.size(); ++line) {
    const std::uint32_t event = scene.findings.failures.events[line].event;
    if (!scene.findings.hints.events[event].waited) continue;
    const detect::Accused& accused = scene.findings.hints.accused[event];
    named = named || !accused.ranks.empty() || !accused.outsiders.empty();
    for (const auto& [rank, first] : scene.voices.lines[line].said.ranks) waiters[rank] = true;
  }
  if (!named) waiters.assign(waiters.size(), false);
  return waiters;
}

}  // namespace

std::vector<Clue> accusations(const Scene& scene) {
  const job::JobView& view = scene.view();
  std::vector<Clue> clues;
  const std::vector<bool> waiters = find_waiters(scene);
  for (const FailureEvent& failure : scene.findings.failures.events) {
    const detect::Accused& accused = scene.findings.hints.accused[failure.event];
    if (accused.empty()) continue;
    const Clue said = said_by(scene, failure);
    const auto add = [&](Whose whose, std::uint32_t index, double share) {
      Clue clue = said;
      clue.whose = whose;
      clue.index = index;
      clue.strength *= share;
      clues.push_back(std::move(clue));
    };
    for (const std::uint32_t node : accused.nodes)
      for (const std::uint32_t rank : blamed_ranks(view, node))
        add(Whose::rank, rank, rarity(accused.nodes.size(), scene.nodes()));
    const bool in_wait = scene.findings.hints.events[failure.event].waited;
    for (const std::uint32_t rank : accused.ranks)
      add(Whose::rank, rank,
          rarity(accused.ranks.size(), view.training_ranks()) *
              (!in_wait && waiters[rank] ? scene.scale.shares.reporter : 1.0));
    for (const std::uint32_t one : accused.outsiders)
      add(Whose::outsider, one, 1.0 / static_cast<double>(accused.outsiders.size()));
  }
  return clues;
}

}  // namespace l4::diagnose::clues
