// The nodes of a job, from its streams and its newest report.
//
// Flow: `GET /api/v1/jobs/{id}/nodes` -> here, on the thread that owns the job. The cost grows with
// the streams. Pure function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/report.h"
#include "aggregator/job/job_state.h"

namespace l4::rows {

struct NodeRow {
  std::string node;
  std::vector<std::string> agents;  ///< agents that ship for this node, ascending
  std::vector<Rank> ranks;          ///< ascending
  std::size_t sources = 0;
  std::uint64_t records = 0;           ///< a folded traceback counts once
  std::optional<Iteration> iteration;  ///< the last that a rank of the node printed as completed
  std::optional<TimeMs> last_line;     ///< newest time printed
  const diagnose::SuspectNode* suspect = {};  ///< null: the report does not suspect the node
};

/// Suspected nodes first, as in the report, then the others by name. `report` may be null; rows
/// point into it.
std::vector<NodeRow> node_rows(const job::JobState& state, const diagnose::Report* report);

}  // namespace l4::rows
