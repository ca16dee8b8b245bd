// Which jobs of the network and of the logs are the same: they run on the same servers.
//
// Place in the flow: a Network and the nodes of a job of logs -> the share of its servers that are
// such nodes. Pure.
#pragma once

#include <set>
#include <string>

#include "aggregator/detect/network/network.h"

namespace l4::job {
class JobState;
}  // namespace l4::job

namespace l4::detect::network {

/// The nodes of a job of logs, ready to be looked up as servers.
class LogNodes {
 public:
  explicit LogNodes(std::set<std::string> names);
  explicit LogNodes(const job::JobState& state);

  /// is_server(), for one of the nodes.
  bool has(const Server& server) const;

 private:
  std::set<std::string> names_, hosts_;
};

double share_of_servers(const Network& network, const LogNodes& nodes);

}  // namespace l4::detect::network
