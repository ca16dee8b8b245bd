// The topology file: servers, their cards and switches, storage.
//
// Place in the flow: a file of `--topology` -> Topology. JSON:
//   {"servers": [{"server": "node-000", "front_end": "172.16.0.1",
//                 "nics": [{"nic": "mlx5_0", "address": "10.0.0.1", "leaf": "leaf-0"}]}],
//    "storage": ["172.20.0.1"]}
// front_end, leaf and storage may be absent; other members are skipped.
#pragma once

#include <filesystem>
#include <string_view>

#include "aggregator/flows/topology.h"
#include "common/base/error.h"

namespace l4::flows::decode {

/// Error: the file cannot be read, is no such JSON, or an address in it is none; `where` names it.
Result<Topology> read_topology(const std::filesystem::path& file);
Result<Topology> parse_topology(std::string_view text, const std::string& name);

}  // namespace l4::flows::decode
