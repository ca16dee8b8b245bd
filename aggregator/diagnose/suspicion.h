// How suspect each rank and node of a job is: scores, reasons, order and confidence.
//
// Place in the flow: suspects.h scores the ranks; order_suspects() makes nodes of them and puts
// the most suspect first. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// Scores of all ranks and nodes of a job, and the most suspect ones.
struct Suspects {
  std::vector<Suspicion> ranks;  ///< by JobView::ranks
  std::vector<Suspicion> nodes;  ///< by JobView::nodes
  std::vector<double> node_confidence;
  std::vector<std::uint32_t> node_order, rank_order;  ///< best first, score > 0 only
};

/// Derives nodes from the scores of ranks: evidence from a launcher passes to a rank of its node, a
/// node is as suspect as its most suspect rank, and node_confidence is P(node is faulty).
Suspects order_suspects(const job::JobView& view, Suspects suspects);

}  // namespace l4::diagnose
