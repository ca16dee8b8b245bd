// `l4 keys`: makes the keys of the wire, enrols nodes, lists and revokes them; makes tokens for
// HTTP.
//
// Flow: command line -> run_keys -> keyring.h. The aggregator reads both lists again by itself.
// JSON: schema l4.keys/1.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace CLI {
class App;
}

namespace l4::commands::keys {

struct KeysOptions {
  enum class Action { init, add, list, revoke, token };

  Action action = Action::list;
  std::filesystem::path folder = "/etc/l4/keys";
  std::vector<std::string> names;
  std::vector<std::filesystem::path> from;  ///< add, revoke: files of names
  bool replace = false;                     ///< add
  bool fleet = false;                       ///< add, revoke: the key that a fleet shares
  std::string role = "read";                ///< token: read or operate
  std::string format = "text";
};

void add_keys(CLI::App& app, KeysOptions& options);
Result<void> check(const KeysOptions& options);

/// Exit status: 0 done; 2 wrong use, or a file that cannot be read or written.
int run_keys(const KeysOptions& options);

}  // namespace l4::commands::keys
