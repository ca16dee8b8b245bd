// The nodes and ranks that are most likely at fault, and why.
//
// Place in the flow: findings in; scored nodes and ranks out, most suspect first. Pure. The sources
// of clues (clues/sources.h) say what speaks against whom, the scale (clues/scale.h) how much.
#pragma once

#include <vector>

#include "aggregator/diagnose/findings/findings.h"
#include "aggregator/diagnose/suspicion.h"
#include "common/base/vocabulary.h"

namespace l4::diagnose {

/// `lost_nodes`: JobView::nodes that stopped without a word (state node_lost).
Suspects find_suspects(const Findings& findings, State state,
                       const std::vector<std::uint32_t>& lost_nodes, const clues::Scale& scale);

}  // namespace l4::diagnose
