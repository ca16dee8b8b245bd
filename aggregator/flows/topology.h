// Servers, their network cards and switches, as a file tells them.
//
// Place in the flow: decode/topology_file.h reads it; the analyser asks which address is a card of
// the training network, which server holds it and which switch it hangs on. Immutable when built.
// Without a topology every address that carries RDMA is a card of a server of its own.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "aggregator/flows/record.h"

namespace l4::flows {

struct AddressHash {
  std::size_t operator()(const Address& address) const { return address.hash(); }
};

class Topology {
 public:
  struct Card {
    std::string name;          ///< mlx5_3
    std::uint32_t server = 0;  ///< index into servers()
    std::string leaf;          ///< the switch it hangs on; empty: not known
  };

  std::uint32_t add_server(std::string name);
  void add_card(const Address& address, Card card) { cards_[address] = std::move(card); }
  void add_front_end(const Address& address, std::uint32_t server) { fronts_[address] = server; }
  void add_storage(const Address& address) { storage_[address] = true; }

  bool empty() const { return cards_.empty(); }
  const std::vector<std::string>& servers() const { return servers_; }
  std::size_t cards() const { return cards_.size(); }
  /// Null if the address is no card of the training network.
  const Card* card(const Address& address) const;
  /// The server behind a front-end or training address; kNone if it is not known.
  std::uint32_t server_of(const Address& address) const;
  bool is_front_end(const Address& address) const { return fronts_.contains(address); }
  bool is_storage(const Address& address) const { return storage_.contains(address); }

 private:
  std::vector<std::string> servers_;
  std::unordered_map<Address, Card, AddressHash> cards_;
  std::unordered_map<Address, std::uint32_t, AddressHash> fronts_;
  std::unordered_map<Address, bool, AddressHash> storage_;
};

}  // namespace l4::flows
