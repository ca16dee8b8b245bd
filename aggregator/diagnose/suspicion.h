// How suspect each rank and node of a job is: scores, reasons, order and confidence.
//
// Place in the flow: suspects.h scores the ranks; order_suspects() makes nodes of them and puts
// the most suspect first. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/detect/evidence/accused.h"
#include "common/base/time.h"

namespace l4::job {
struct JobView;
}  // namespace l4::job

namespace l4::diagnose {

struct Suspicion {
  double score = 0;
  std::optional<TimeMs> first_seen;
  std::vector<std::string> why;
  std::vector<std::uint32_t> events;  ///< JobView::events
};

/// Scores of all ranks and nodes of a job, and the most suspect ones. In an order, an index beyond
/// the nodes (or ranks) is that of an outsider, counted from there.
struct Suspects {
  std::vector<Suspicion> ranks;                       ///< by JobView::ranks
  std::vector<Suspicion> nodes;                       ///< by JobView::nodes
  std::vector<Suspicion> outsiders;                   ///< by Hints::outsiders
  std::vector<double> node_confidence;                ///< by nodes, then outsiders
  std::vector<std::uint32_t> node_order, rank_order;  ///< best first, score > 0 only

  const Suspicion& node(std::uint32_t i) const {
    return i < nodes.size() ? nodes[i] : outsiders[i - nodes.size()];
  }
  const Suspicion& rank(std::uint32_t i) const {
    return i < ranks.size() ? ranks[i] : outsiders[i - ranks.size()];
  }
};

/// Derives nodes from the scores of ranks: evidence from a launcher passes to a rank of its node, a
/// node is as suspect as its most suspect rank, and node_confidence is P(node is faulty).
Suspects order_suspects(const job::JobView& view, const std::vector<detect::Outsider>& outsiders,
                        Suspects suspects);

}  // namespace l4::diagnose
