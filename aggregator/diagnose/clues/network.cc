#include <string>

#include "aggregator/diagnose/clues/sources.h"
#include "aggregator/job/view.h"

namespace l4::diagnose::clues {

/// Nodes whose servers stopped first, or which are slow, by the network.
std::vector<Clue> network(const Scene& scene) {
  std::vector<Clue> clues;
  const bool slow = scene.state == State::slow;
  for (const detect::network::Accusation& accused : scene.findings.network.accused) {
    if (detect::network::is_stop(accused.trouble) == slow || accused.strength <= 0) continue;
    Clue clue{slow ? ClueKind::network_slow : ClueKind::network_first, Whose::node, accused.node,
              accused.strength};
    clue.facts = {{FactKind::trouble, std::string(detect::network::text(accused.trouble))},
                  {FactKind::place, accused.place}};
    clues.push_back(std::move(clue));
  }
  return clues;
}

}  // namespace l4::diagnose::clues
