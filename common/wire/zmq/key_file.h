// Key files: the keys and names that one end of the wire needs, its own and those of the other end.
//
// Written by `l4 keys` with mode 0600, read by the programs at their start. TOML, strict: a missing
// or misspelt key is an Error with file and line.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.h"

namespace l4::wire {

/// Key file of an agent: NODE.key. `name` is kFleetKeyName for a key that a fleet shares.
struct NodeKey {
  std::string name, public_key, secret_key;
  std::string server_key;  ///< the aggregator's public key
};

/// Key file of the aggregator: aggregator.key.
struct ServerKey {
  std::string public_key, secret_key;
};

Result<NodeKey> load_node_key(const std::filesystem::path& file);
Result<ServerKey> load_server_key(const std::filesystem::path& file);
std::string to_text(const NodeKey& key);
std::string to_text(const ServerKey& key);

}  // namespace l4::wire
