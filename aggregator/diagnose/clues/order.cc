#include <algorithm>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/clues.h"
#include "common/base/earliest.h"

namespace l4::diagnose::clues {

/// Being first counts among nodes; differences below a second do not count (clocks differ). Being
/// the first to complain about others counts for little.
std::vector<Clue> order(const Scene& scene) {
  const job::JobView& view = scene.view();
  const Voices& voices = scene.voices;
  const bool causes =
      std::ranges::any_of(voices.cause_time, [](const auto& time) { return time.has_value(); });
  const auto& seen = causes ? voices.cause_time : voices.first_seen;
  std::vector<std::pair<TimeMs, std::uint32_t>> firsts;
  for (std::uint32_t node = 0; node < scene.nodes(); ++node) {
    std::optional<TimeMs> first;
    for (const std::uint32_t rank : view.nodes[node].ranks) keep_earliest(first, seen[rank]);
    if (first) firsts.emplace_back(*first, node);
  }
  std::ranges::sort(firsts);
  std::vector<Clue> clues;
  std::size_t place = 1;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    if (i > 0 && firsts[i].first - firsts[i - 1].first > numbers::clues().order_tie) place = i + 1;
    const double strength = rarity(place, std::max<std::size_t>(scene.nodes(), 2));
    if (strength <= 0) continue;
    const bool alone = i == 0 && (firsts.size() == 1 ||
                                  firsts[1].first - firsts[0].first > numbers::clues().order_tie);
    for (const std::uint32_t rank : view.nodes[firsts[i].second].ranks) {
      if (!seen[rank] || *seen[rank] - firsts[i].first > numbers::clues().order_tie) continue;
      Clue clue{causes ? ClueKind::first : ClueKind::first_to_echo, Whose::rank, rank, strength};
      clue.told = alone;
      clue.facts = {{FactKind::since, *seen[rank]}, {FactKind::count, double(place)}};
      clues.push_back(std::move(clue));
    }
  }
  return clues;
}

}  // namespace l4::diagnose::clues
