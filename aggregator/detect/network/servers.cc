#include "aggregator/detect/network/servers.h"

#include <algorithm>
#include <utility>

#include "aggregator/job/job_state.h"
#include "aggregator/job/stream.h"

namespace l4::detect::network {
namespace {

std::set<std::string> nodes_of(const job::JobState& state) {
  std::set<std::string> nodes;
  const std::string* last = nullptr;  // streams of an agent are mostly of one node
  for (const auto& [name, agent] : state.agents())
    for (const auto& [source, stream] : agent.streams) {
      if (last != nullptr && *last == stream.source.node) continue;
      last = &stream.source.node;
      nodes.insert(*last);
    }
  return nodes;
}

}  // namespace

LogNodes::LogNodes(std::set<std::string> names) : names_(std::move(names)) {
  names_.erase("");
  for (const std::string& name : names_) hosts_.emplace(host(name));
}

LogNodes::LogNodes(const job::JobState& state) : LogNodes(nodes_of(state)) {}

bool LogNodes::has(const Server& server) const {
  return hosts_.contains(std::string(host(server.name))) ||
         std::ranges::any_of(server.addresses,
                             [&](const std::string& address) { return names_.contains(address); });
}

double share_of_servers(const Network& network, const LogNodes& nodes) {
  if (network.servers.empty()) return 0;
  const auto known = std::ranges::count_if(network.servers,
                                           [&](const Server& server) { return nodes.has(server); });
  return static_cast<double>(known) / static_cast<double>(network.servers.size());
}

}  // namespace l4::detect::network
