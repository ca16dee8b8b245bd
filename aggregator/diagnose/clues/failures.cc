#include <algorithm>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/diagnose/clues/strength.h"
#include "aggregator/job/view.h"

namespace l4::diagnose::clues {

using detect::EventHint;
using detect::FailureEvent;
using detect::Severity;

double strength_of(const Scene& scene, const FailureEvent& failure) {
  const Shares& shares = scene.scale.shares;
  const EventHint& hint = scene.findings.hints.events[failure.event];
  const Telling telling = telling_of(hint, failure);
  const Severity severity = telling == Telling::hint && scene.voices.most > telling
                                ? std::min(failure.severity, Severity::notice)
                                : failure.severity;
  const bool specific = hint.known_fault && !hint.general && !hint.is_echo() && !failure.follows;
  const double known = specific ? shares.known_fault : 1.0;
  const double beside = scene.voices.fatal ? shares.beside_fatal : 1.0;
  switch (severity) {
    case Severity::fatal:
      return known;
    case Severity::failure:
      return known * shares.failure;
    case Severity::notice:
      return known * shares.notice * beside;
    default:
      return known * shares.quiet * beside;
  }
}

/// A launcher, an operator or a driver that blames somebody tells of that one in its other lines,
/// too: they say as little of itself as an echo does.
std::vector<Clue> failures(const Scene& scene) {
  const Findings& findings = scene.findings;
  const Shares& shares = scene.scale.shares;
  std::vector<Clue> clues;
  for (std::size_t line = 0; line < scene.voices.lines.size(); ++line) {
    const FailureEvent& failure = findings.failures.events[line];
    const auto& [said, counts, echo] = scene.voices.lines[line];
    const bool of_peer = findings.hints.events[failure.event].is_echo();
    const ClueKind kind = echo ? ClueKind::echo : of_peer ? ClueKind::accuser : ClueKind::cause;
    const double reach =
        shares.everywhere + (1 - shares.everywhere) * rarity(said.nodes, scene.nodes());
    const double strength = strength_of(scene, failure) * reach;
    Facts facts = facts_of(scene.view().events[failure.event]);
    facts.push_back({FactKind::count, double(said.nodes)});
    facts.push_back({FactKind::of, double(scene.nodes())});
    for (const auto& [rank, first] : said.ranks) {
      Clue clue{kind, Whose::rank, rank, strength};
      if (scene.voices.reports[rank]) clue.strength *= shares.reporter;
      clue.told = !echo && said.nodes * 2 <= scene.nodes();
      clue.event = failure.event;
      clue.facts = facts;
      clues.push_back(std::move(clue));
    }
  }
  return clues;
}

/// Whatever such a line says of a peer, its own node is the one to look at.
std::vector<Clue> standing(const Scene& scene) {
  const job::JobView& view = scene.view();
  std::vector<Clue> clues;
  for (std::size_t line = 0; line < scene.voices.lines.size(); ++line) {
    const std::uint32_t event = scene.findings.failures.events[line].event;
    for (const auto& [rank, first] : scene.voices.lines[line].said.ranks) {
      Clue clue{ClueKind::cause, Whose::rank, rank, scene.scale.shares.failure};
      clue.event = event;
      clue.facts = facts_of(view.events[event]);
      clues.push_back(std::move(clue));
    }
  }
  return clues;
}

}  // namespace l4::diagnose::clues
