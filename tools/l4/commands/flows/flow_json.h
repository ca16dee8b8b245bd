// What `l4 flows` found, as JSON (schema l4.flows/1: schemas/flows.schema.json), and as a trace
// that Perfetto and Chrome open.
//
// Flow: FlowReport -> text of a file. Pure.
#pragma once

#include <string>

#include "aggregator/flows/job_flows.h"

namespace l4::commands::flows {

/// `method`: "l4" or "paper".
std::string to_json(const l4::flows::FlowReport& report, const std::string& method);

/// Chrome's trace event format: a process for each job, a lane for its steps and for each group.
std::string to_trace(const l4::flows::FlowReport& report);

}  // namespace l4::commands::flows
