#include "common/wire/zmq/key_file.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "common/config/config_table.h"
#include "common/wire/control.h"
#include "common/wire/port.h"
#include "common/wire/zmq/curve_key.h"

namespace l4::wire {
namespace {

std::string key_of(ConfigTable& table, std::string_view name) {
  std::string key = table.text(name);
  if (!key.empty() && !is_curve_key(key))
    table.refuse(name, "no CURVE key: 40 characters of Z85 are");
  return key;
}

void check_pair(ConfigTable& table, const std::string& public_key, const std::string& secret_key) {
  if (is_curve_key(secret_key) && public_key_of(secret_key) != public_key)
    table.refuse("public", "does not belong to the secret key");
}

/// The error of a file that cannot be opened, with what to do about it.
std::unexpected<Error> unopened(Error error, std::string_view step) {
  if (error.reason.starts_with("cannot be opened")) error.reason.append("; ").append(step);
  return std::unexpected(std::move(error));
}

}  // namespace

Result<NodeKey> load_node_key(const std::filesystem::path& file) {
  auto table = ConfigTable::load(file);
  if (!table)
    return unopened(table.error(),
                    "'l4 keys' makes it on the aggregator's host; bring it here, owned by the "
                    "agent's user");
  if (!table->has("aggregator") && !table->has("name") && table->has("secret"))
    return std::unexpected(
        Error{file.string(),
              "is the key of an aggregator; an agent takes nodes/NAME.key of the "
              "same folder, which 'l4 keys add NAME' makes"});
  NodeKey key;
  key.name = table->text("name");
  if (key.name != kFleetKeyName && !is_node_name(key.name))
    table->refuse("name", "not the name of a node: letters, digits and ._:- are allowed");
  key.public_key = key_of(*table, "public");
  key.secret_key = key_of(*table, "secret");
  key.server_key = key_of(*table, "aggregator");
  check_pair(*table, key.public_key, key.secret_key);
  if (const auto fault = table->finish()) return std::unexpected(*fault);
  return key;
}

Result<ServerKey> load_server_key(const std::filesystem::path& file) {
  auto table = ConfigTable::load(file);
  if (!table)
    return unopened(table.error(), "'l4 keys init' makes it; the aggregator's user must own it");
  if (table->has("aggregator") && table->has("name"))
    return std::unexpected(Error{file.string(), "is the key of the agent '" + table->text("name") +
                                                    "'; the aggregator takes aggregator.key of the "
                                                    "folder that 'l4 keys init' makes"});
  ServerKey key{key_of(*table, "public"), key_of(*table, "secret")};
  check_pair(*table, key.public_key, key.secret_key);
  if (const auto fault = table->finish()) return std::unexpected(*fault);
  return key;
}

std::string to_text(const NodeKey& key) {
  return fmt::format(
      "# Key of one L4 agent. Whoever has it can speak for the node: keep it secret.\n"
      "name = \"{}\"\npublic = \"{}\"\nsecret = \"{}\"\naggregator = \"{}\"\n",
      key.name, key.public_key, key.secret_key, key.server_key);
}

std::string to_text(const ServerKey& key) {
  return fmt::format(
      "# Key of the L4 aggregator: keep it secret.\npublic = \"{}\"\nsecret = \"{}\"\n",
      key.public_key, key.secret_key);
}

}  // namespace l4::wire
