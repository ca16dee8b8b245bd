// Whom a message blames: the ranks, tasks, nodes, pods and addresses of which it says that they
// failed, are missing or do not answer.
//
// Flow: the last step of extract() (parameters.h). A value is blamed if a noun of blame_forms.h
// names it ("task 5", "pod train-worker-2") or it is spelt like a host ("node17"), and a complaint
// stands beside it with nothing but linking words between: "task 5: Exited", "no response from rank
// 3". In "rank 0 timed out waiting for rank 3" the second one is blamed. A field of its own line or
// a quoted key ("ip: 10.0.0.12") belongs to the complaint above it. Of a table of failures only the
// one under a heading of its own counts ("Root Cause:"). Not blamed: a label of the
// speaker ("[Rank 3] Watchdog .."), a range ("tasks 0-7"), a list of more than kBlamedMax, ranks of
// a parallel group, workers of a data loader. Pure, no allocation but the values, bounded by
// kTokens.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/wire/batch.h"

namespace l4::parameters {

inline constexpr std::size_t kBlamedMax = 8;

/// True for a word without which nobody is blamed.
bool is_complaint(std::string_view word);

/// Marks the values in `out` that `message` blames; adds those that are not there yet.
void mark_blamed(std::string_view message, std::vector<wire::Parameter>& out);

}  // namespace l4::parameters
