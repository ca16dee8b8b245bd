#include <map>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/diagnose/findings/states.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/printed.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"

namespace l4::diagnose::clues {
namespace {

double number(const job::JobView& view, Iteration iteration) {
  return static_cast<double>(job::printed(view, iteration).value());
}

}  // namespace

std::vector<Clue> progress(const Scene& scene) {
  const job::JobClock& clock = scene.findings.clock;
  std::vector<std::uint32_t> late;
  for (const std::uint32_t rank : clock.dense_ranks) {
    const auto completed = scene.view().ranks[rank].completed;
    if (!completed || !clock.completed_by_any) continue;
    const auto lag = clock.completed_by_any->value() - completed->value();
    if (lag > 0 && !clock.is_far_behind(*completed)) late.push_back(rank);
  }
  std::vector<Clue> clues;
  if (late.size() * 2 > clock.dense_ranks.size()) return clues;
  for (const std::uint32_t rank : late) {
    Clue clue{ClueKind::behind, Whose::rank, rank, rarity(late.size(), clock.dense_ranks.size())};
    clue.facts = {{FactKind::iteration, number(scene.view(), *clock.completed_by_any)}};
    clues.push_back(std::move(clue));
  }
  return clues;
}

/// Ranks whose last iteration differs from the expected sequence. When all ranks stop in the middle
/// of an iteration many differ, so a difference means little. After a crash the incomplete
/// iteration is skipped: it was cut off, and its failure lines are weighed elsewhere.
std::vector<Clue> sequences(const Scene& scene) {
  const Findings& findings = scene.findings;
  std::vector<Clue> clues;
  if (!findings.temporal) return clues;
  const bool cut_off = scene.state != State::hung && !findings.failures.events.empty();
  const bool goes_on = !has_suspects(scene.state);  // its last iteration may be under way
  const auto newest = findings.clock.completed_by_any;
  std::map<std::uint32_t, const detect::temporal::Anomaly*> flagged;  // by rank
  for (const detect::temporal::Anomaly& alarm : findings.temporal->alarms) {
    if (alarm.kind != detect::temporal::AnomalyKind::sequence ||
        alarm.stream == detect::temporal::kAllStreams)
      continue;
    if (newest && alarm.iteration + 2 * findings.clock.stride < newest->value()) continue;
    if (newest && (cut_off || goes_on) && alarm.iteration > newest->value()) continue;
    flagged[scene.view().streams[findings.sequences.streams[alarm.stream]].rank] = &alarm;
  }
  if (goes_on && !job::is_few(flagged.size(), scene.view().training_ranks())) return clues;
  for (const auto& [rank, alarm] : flagged) {
    Clue clue{ClueKind::odd_iteration, Whose::rank, rank,
              rarity(flagged.size(), scene.view().training_ranks())};
    clue.facts = {{FactKind::iteration, number(scene.view(), Iteration{alarm->iteration})}};
    if (!alarm->missing.empty())
      clue.facts.push_back({FactKind::text, scene.view().events[alarm->missing.back()].text});
    clues.push_back(std::move(clue));
  }
  return clues;
}

/// Ranks that print their lines in another order than before, and than their peers.
std::vector<Clue> turns(const Scene& scene) {
  const auto& turned = scene.findings.turns;
  std::vector<Clue> clues;
  for (const detect::temporal::Turn& turn : turned) {
    Clue clue{ClueKind::turned, Whose::rank, scene.view().streams[turn.stream].rank,
              rarity(turned.size(), scene.view().training_ranks())};
    clue.facts = {{FactKind::text, scene.view().events[turn.later].text},
                  {FactKind::text, scene.view().events[turn.earlier].text},
                  {FactKind::iteration, number(scene.view(), turn.iteration)}};
    clues.push_back(std::move(clue));
  }
  return clues;
}

}  // namespace l4::diagnose::clues
