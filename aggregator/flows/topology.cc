#include "aggregator/flows/topology.h"

#include <utility>

namespace l4::flows {

std::uint32_t Topology::add_server(std::string name) {
  servers_.push_back(std::move(name));
  return static_cast<std::uint32_t>(servers_.size() - 1);
}

const Topology::Card* Topology::card(const Address& address) const {
  const auto found = cards_.find(address);
  return found == cards_.end() ? nullptr : &found->second;
}

std::uint32_t Topology::server_of(const Address& address) const {
  if (const Card* own = card(address)) return own->server;
  const auto found = fronts_.find(address);
  return found == fronts_.end() ? kNone : found->second;
}

}  // namespace l4::flows
