#include <algorithm>
#include <set>

#include "aggregator/cards/nic_table.h"
#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/clues.h"

namespace l4::diagnose::clues {
namespace {

using detect::nics::Nic;
using detect::nics::Nics;
using detect::nics::Rise;

/// When the job stopped, or for a slow job the end of what is known.
std::optional<TimeMs> trouble_of(const Scene& scene) {
  const Nics& found = scene.findings.nics;
  if (scene.state != State::slow) {
    if (found.silent_since) return found.silent_since;
    if (scene.findings.clock.last_progress) return scene.findings.clock.last_progress;
  }
  std::optional<TimeMs> latest;
  for (const Nic& nic : found.nics)
    if (!latest || *nic.known_until > *latest) latest = nic.known_until;
  return latest;
}

const Rise* worst_rise(const Nic& nic, TimeMs trouble) {
  const Rise* worst = nullptr;
  for (const Rise& rise : nic.rises) {
    const bool near = rise.last >= trouble - numbers::clues().nic_errors_before &&
                      rise.first <= trouble + numbers::clues().nic_errors_after;
    if (rise.fault && near && (worst == nullptr || rise.rise > worst->rise)) worst = &rise;
  }
  return worst;
}

void add_errors(const Scene& scene, std::vector<Clue>& clues) {
  const auto trouble = trouble_of(scene);
  if (!trouble) return;
  std::set<std::uint32_t> nodes;
  for (const Nic& nic : scene.findings.nics.nics)
    if (worst_rise(nic, *trouble) != nullptr) nodes.insert(nic.node);
  for (const std::uint32_t node : nodes) {
    const Nic* card = nullptr;
    const Rise* worst = nullptr;
    for (const Nic& nic : scene.findings.nics.nics) {
      const Rise* const rise = nic.node == node ? worst_rise(nic, *trouble) : nullptr;
      if (rise != nullptr && (worst == nullptr || rise->rise > worst->rise))
        card = &nic, worst = rise;
    }
    Clue clue{ClueKind::nic_errors, Whose::node, node, rarity(nodes.size(), scene.nodes())};
    clue.facts = {{FactKind::nic, card->history->facts.name},
                  {FactKind::counter, worst->counter},
                  {FactKind::count, double(worst->rise)},
                  {FactKind::since, worst->first}};
    clues.push_back(std::move(clue));
  }
}

void add_first(const Scene& scene, std::vector<Clue>& clues) {
  const Nics& found = scene.findings.nics;
  if (scene.state == State::slow || found.first.empty() || !found.lead) return;
  std::set<std::uint32_t> nodes;
  for (const std::uint32_t i : found.first) nodes.insert(found.nics[i].node);
  const double sure =
      *found.lead > numbers::clues().sure_lead ? 1.0 : scene.scale.shares.unsure_lead;
  for (const std::uint32_t node : nodes) {
    const auto at = std::ranges::find_if(
        found.first, [&](std::uint32_t i) { return found.nics[i].node == node; });
    const Nic& card = found.nics[*at];
    Clue clue{ClueKind::nic_silent_first, Whose::node, node,
              sure * rarity(nodes.size(), scene.nodes())};
    clue.facts = {{FactKind::nic, card.history->facts.name},
                  {FactKind::since, card.last_sent.value_or(*card.last_active)},
                  {FactKind::ms, double(found.lead->count())}};
    clues.push_back(std::move(clue));
  }
}

}  // namespace

/// Errors of a card alone accuse nobody: this is asked only of jobs that stopped or slowed.
std::vector<Clue> nics(const Scene& scene) {
  std::vector<Clue> clues;
  add_errors(scene, clues);
  add_first(scene, clues);
  return clues;
}

}  // namespace l4::diagnose::clues
