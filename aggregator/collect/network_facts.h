// What flow records show of a job, as the facts that its diagnosis and its alerts read.
//
// Place in the flow: a job of the Analyser -> Network (detect/network) -> diagnose, scoring. Pure.
// Servers that the topology does not name are called by the address of their card.
#pragma once

#include "aggregator/detect/network/network.h"
#include "aggregator/flows/job_flows.h"
#include "aggregator/flows/topology.h"

namespace l4::collect {

/// `now`: until when records were looked at; `steps`: whole steps that were ever seen.
detect::network::Network network_of(const flows::JobFlows& job, const flows::Topology& topology,
                                    flows::TimeNs now, std::uint64_t steps);

}  // namespace l4::collect
