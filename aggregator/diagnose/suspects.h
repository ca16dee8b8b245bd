// The nodes and ranks that are most likely at fault, and why.
//
// Place in the flow: failure events, silence, slowdown and hints in; scored nodes and ranks out,
// most suspect first. Pure. A node's score is the sum of its evidence: causes that few other nodes
// have, being first, silence while others complain, lagging iterations, accusations by others, its
// own phase times. Consequences never put a node above one with a cause.
#pragma once

#include <vector>

#include "aggregator/diagnose/findings.h"
#include "aggregator/diagnose/report.h"
#include "aggregator/diagnose/suspicion.h"

namespace l4::diagnose {

/// `lost_nodes`: JobView::nodes that stopped without a word (state node_lost).
Suspects find_suspects(const Findings& findings, State state,
                       const std::vector<std::uint32_t>& lost_nodes);

}  // namespace l4::diagnose
