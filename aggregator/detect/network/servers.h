// Which jobs of the network and of the logs are the same: they run on the same servers.
//
// Place in the flow: a Network and the nodes of a job of logs -> the share of its servers that are
// such nodes. Pure.
#pragma once

#include <set>
#include <string>

#include "aggregator/detect/network/network.h"

namespace l4::detect::network {

/// More than this share of a job's servers are nodes of the job of logs that it is.
inline constexpr double kMost = 0.5;

double share_of_servers(const Network& network, const std::set<std::string>& nodes);

}  // namespace l4::detect::network
