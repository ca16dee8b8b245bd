#include "aggregator/flows/decode/topology_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "aggregator/serve/json_reader.h"

namespace l4::flows::decode {
namespace {

using serve::JsonMembers;
using serve::JsonReader;

Address address_in(JsonMembers& members, std::string_view name) {
  const std::string text = members.text(name);
  const auto address = parse_address(text);
  if (!address) members.fail(name, fmt::format("'{}' is no address", text));
  return address.value_or(Address());
}

void read_server(JsonMembers& members, Topology& topology) {
  const std::uint32_t server = topology.add_server(members.text("server"));
  if (members.find("front_end") != nullptr)
    topology.add_front_end(address_in(members, "front_end"), server);
  members.each("nics", [&](JsonMembers& nic) {
    Topology::Card card{"", server, ""};
    nic.read_if_any("nic", card.name);
    nic.read_if_any("leaf", card.leaf);
    const Address address = address_in(nic, "address");
    if (topology.card(address) != nullptr)
      nic.fail("address", fmt::format("{} is given twice", to_text(address)));
    topology.add_card(address, std::move(card));
  });
}

}  // namespace

Result<Topology> parse_topology(std::string_view text, const std::string& name) {
  const auto json = serve::parse_json(text);
  if (!json) return std::unexpected(Error{name, json.error().reason});
  Topology topology;
  JsonReader reader("$");
  JsonMembers all(reader, *json);
  all.each("servers", [&](JsonMembers& server) { read_server(server, topology); });
  std::vector<std::string> storage;
  all.read_if_any("storage", storage);
  for (const std::string& one : storage) {
    const auto address = parse_address(one);
    if (!address) all.fail("storage", fmt::format("'{}' is no address", one));
    if (address) topology.add_storage(*address);
  }
  if (reader.error())
    return std::unexpected(Error{name + ", " + reader.error()->where, reader.error()->reason});
  return topology;
}

Result<Topology> read_topology(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.good() && !in.eof()) return std::unexpected(Error{file.string(), std::strerror(errno)});
  return parse_topology(text, file.string());
}

}  // namespace l4::flows::decode
