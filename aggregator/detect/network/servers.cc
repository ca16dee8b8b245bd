#include "aggregator/detect/network/servers.h"

#include <algorithm>

namespace l4::detect::network {

double share_of_servers(const Network& network, const std::set<std::string>& nodes) {
  if (network.servers.empty()) return 0;
  const auto known = std::ranges::count_if(network.servers, [&](const Server& server) {
    return nodes.contains(server.name) || std::ranges::any_of(nodes, [&](const std::string& node) {
             return is_server(server, node);
           });
  });
  return static_cast<double>(known) / static_cast<double>(network.servers.size());
}

}  // namespace l4::detect::network
