// Jobs that flow records show, as JSON; schemas/openapi.yaml describes them as FlowJob and
// FlowJobRow.
//
// Flow: api/flow_api.cc -> here, on the thread that owns the flows. A step holds a lane for each
// group, in the order of `groups`. Thread-safe, no state.
#pragma once

#include <cstddef>

#include "aggregator/flows/job_flows.h"
#include "aggregator/serve/json_text.h"

namespace l4::rows {

/// One row of a list.
void write_row(serve::JsonWriter& to, const flows::JobFlows& job);
/// The whole job, with its latest `steps` steps.
void write(serve::JsonWriter& to, const flows::JobFlows& job, std::size_t steps);

}  // namespace l4::rows
