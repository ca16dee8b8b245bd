#include <algorithm>

#include "aggregator/detect/hang/silent_ranks.h"
#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/clues.h"

namespace l4::diagnose::clues {
namespace {

/// A rank (or launcher) that is silent while most of its kind complain has died or hangs.
std::vector<Clue> silent(const Scene& scene, detect::hang::Speakers speakers) {
  const auto [silent, silent_in_all, all] =
      detect::hang::find_silent_ranks(scene.view(), scene.voices.complained, speakers);
  const std::size_t complaining = all - silent_in_all;
  std::vector<Clue> clues;
  if (all < numbers::clues().silent_of_min || silent.empty() || complaining * 2 < all) return clues;
  const bool launchers = speakers == detect::hang::Speakers::launchers;
  for (const std::uint32_t rank : silent) {
    Clue clue{launchers ? ClueKind::silent_launcher : ClueKind::silent, Whose::rank, rank,
              rarity(silent.size(), all)};
    clue.facts = {{FactKind::count, double(complaining)}, {FactKind::of, double(all)}};
    clues.push_back(std::move(clue));
  }
  return clues;
}

/// Ranks in step end within moments of each other, so a rank that ends well before them stands out.
/// A lead below a second may be due to clocks and counts less.
std::vector<Clue> silent_first(const Scene& scene) {
  const Findings& findings = scene.findings;
  if (!findings.failures.events.empty() || !findings.silence.overdue) return {};
  const auto& order = findings.silence.order;
  if (order.size() < 2 || !order[0].since || !order[1].since) return {};
  const Millis lead = *order[1].since - *order[0].since;
  const std::size_t last = order.size() - 1;
  if (!order[last].since || lead < numbers::clues().silent_lead_min ||
      lead < numbers::clues().silent_lead_times * (*order[last].since - *order[1].since))
    return {};
  Clue clue{ClueKind::silent_first, Whose::rank, order[0].rank,
            lead > numbers::clues().sure_lead ? 1.0 : scene.scale.shares.unsure_lead};
  clue.facts = {{FactKind::since, *order[0].since}, {FactKind::ms, double(lead.count())}};
  return {std::move(clue)};
}

}  // namespace

std::vector<Clue> silence(const Scene& scene) {
  using detect::hang::Speakers;
  std::vector<Clue> clues =
      silent(scene, scene.state == State::hung ? Speakers::hung_ranks : Speakers::ranks);
  std::ranges::move(silent(scene, Speakers::launchers), std::back_inserter(clues));
  return clues.empty() ? silent_first(scene) : clues;
}

/// During a stall some ranks still print lines unrelated to progress (a metrics thread, a
/// heartbeat). A rank that used to print them and no longer does has stopped altogether.
std::vector<Clue> habits(const Scene& scene) {
  const auto& progress = scene.findings.clock.last_progress;
  std::vector<Clue> clues;
  if (!progress) return clues;
  for (const job::EventView& event : scene.view().events) {
    std::vector<std::uint32_t> go_on, stopped;
    for (const job::Occurrence& occurrence : event.at) {
      const std::uint32_t rank = scene.view().streams[occurrence.stream].rank;
      const auto& first = occurrence.stats.first_time;
      const auto& last = occurrence.stats.last_time;
      if (!first || !last || *first > *progress || scene.view().ranks[rank].launcher) continue;
      (*last > *progress + numbers::clues().habit_settle ? go_on : stopped).push_back(rank);
    }
    if (stopped.empty() || go_on.size() < 2 || stopped.size() * 2 > go_on.size()) continue;
    for (const std::uint32_t rank : stopped) {
      Clue clue{ClueKind::habit_stopped, Whose::rank, rank,
                rarity(stopped.size(), stopped.size() + go_on.size())};
      clue.facts = facts_of(event);
      clue.facts.push_back({FactKind::count, double(go_on.size())});
      clues.push_back(std::move(clue));
    }
  }
  return clues;
}

}  // namespace l4::diagnose::clues
