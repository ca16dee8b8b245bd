#include "aggregator/flows/decode/topology_file.h"

#include <doctest/doctest.h>

namespace l4::flows::decode {

TEST_CASE("servers, cards, switches and storage are read") {
  const auto topology = parse_topology(
      R"({"kind": "rail", "servers": [{"server": "node-0", "front_end": "172.16.0.1",
          "nics": [{"nic": "mlx5_0", "address": "10.0.0.1", "leaf": "leaf-3"},
                   {"address": "10.1.0.1"}]}], "storage": ["172.20.0.1"]})",
      "t.json");
  REQUIRE(topology);
  CHECK(topology->cards() == 2);
  CHECK(topology->servers() == std::vector<std::string>{"node-0"});
  REQUIRE(topology->card(*parse_address("10.0.0.1")));
  CHECK(topology->card(*parse_address("10.0.0.1"))->leaf == "leaf-3");
  CHECK(topology->card(*parse_address("172.16.0.1")) == nullptr);
  CHECK(topology->server_of(*parse_address("172.16.0.1")) == 0);
  CHECK(topology->server_of(*parse_address("172.16.0.2")) == kNone);
  CHECK(topology->is_storage(*parse_address("172.20.0.1")));
}

TEST_CASE("an error in a topology names the file, the value and its path") {
  const auto error = [](std::string_view text) {
    const auto topology = parse_topology(text, "t.json");
    REQUIRE_FALSE(topology);
    return topology.error().text();
  };
  CHECK(error("{").starts_with("t.json: "));
  CHECK(error("{}").find("servers") != std::string::npos);
  CHECK(error(R"({"servers": [{"server": "a", "nics": [{"address": "10.0.0"}]}]})") ==
        "t.json, $.servers[0].nics[0].address: '10.0.0' is no address");
  CHECK(error(R"({"servers": [{"server": "a", "nics": [{"address": "10.0.0.1"},
                 {"address": "10.0.0.1"}]}]})")
            .find("is given twice") != std::string::npos);
}

}  // namespace l4::flows::decode
