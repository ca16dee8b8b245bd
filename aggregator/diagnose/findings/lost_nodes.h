// Nodes that were lost: they stopped without a word while the others complained.
//
// Place in the flow: findings in, a fact for the verdict and the first suspects out, where no
// agents tell which nodes are lost. A node counts that others name and that says nothing itself;
// else one that is silent where chance would hardly leave any silent, and no cause is seen. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregator/diagnose/findings/findings.h"

namespace l4::diagnose {

/// Indices into JobView::nodes, ascending unless others name them.
std::vector<std::uint32_t> find_lost_nodes(const Findings& findings);

/// A batch system or launcher names a node as lost that wrote none of the lines.
bool names_lost_outsider(const Findings& findings);

}  // namespace l4::diagnose
