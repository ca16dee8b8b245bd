// How suspect each rank and node of a job is: clues added up, reasons and order.
//
// Place in the flow: clues/ -> weigh() gives the ranks their scores; order_suspects() makes nodes
// of them and puts the most suspect first. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/detect/evidence/accused.h"
#include "aggregator/diagnose/clues/clue.h"
#include "common/base/time.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

namespace clues {
struct Scale;
}  // namespace clues

struct Suspicion {
  double score = 0;
  std::optional<TimeMs> first_seen;
  std::vector<std::string> why;
  std::vector<std::uint32_t> events;  ///< JobView::events
};

/// A clue and what it adds to the score of its rank, node or outsider.
struct WeighedClue {
  clues::Clue clue;
  double adds = 0;
};

/// Scores of all ranks and nodes of a job, and the most suspect ones. In an order, an index beyond
/// the nodes (or ranks) is that of an outsider, counted from there.
struct Suspects {
  std::vector<Suspicion> ranks;                       ///< by JobView::ranks
  std::vector<Suspicion> nodes;                       ///< by JobView::nodes
  std::vector<Suspicion> outsiders;                   ///< by Hints::outsiders
  std::vector<double> node_confidence;                ///< by nodes; of the paper's method alone
  std::vector<std::uint32_t> node_order, rank_order;  ///< best first, score > 0 only
  std::vector<WeighedClue> clues;                     ///< all that add something

  const Suspicion& node(std::uint32_t i) const {
    return i < nodes.size() ? nodes[i] : outsiders[i - nodes.size()];
  }
  const Suspicion& rank(std::uint32_t i) const {
    return i < ranks.size() ? ranks[i] : outsiders[i - ranks.size()];
  }
};

/// Adds the clues up by the scale: each adds its strength times the weight of its kind, at most the
/// kind's cap. Of kinds with a part `further` the strongest counts in full, the others in part:
/// many lines are not many causes. Clues of a node count for the rank on it that is most suspect by
/// all others.
Suspects weigh(const job::JobView& view, std::size_t outsiders, std::vector<clues::Clue> clues,
               const clues::Scale& scale);

/// Derives nodes from the scores of ranks: evidence from a launcher passes to a rank of its node, a
/// node is as suspect as its most suspect rank. An outsider counts where its node is known.
Suspects order_suspects(const job::JobView& view, const std::vector<detect::Outsider>& outsiders,
                        Suspects suspects);

}  // namespace l4::diagnose
