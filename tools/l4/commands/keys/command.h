// `l4 keys`: makes the keys of the wire, enrols nodes, lists and revokes them; makes tokens for
// HTTP.
//
// Flow: command line -> run_keys -> keyring.h. The aggregator reads both lists again by itself.
// JSON: schema l4.keys/1.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/l4/terminal/command.h"

namespace l4::commands::keys {

struct KeysOptions {
  enum class Action { init, add, list, revoke, token };

  Action action = Action::list;
  std::filesystem::path folder = "/etc/l4/keys";
  std::vector<std::string> names;
  std::vector<std::filesystem::path> from;  ///< init, add, revoke: files of names
  bool replace = false;                     ///< add
  bool fleet = false;                       ///< init, add, revoke: the key that a fleet shares
  std::string role = "read";                ///< token: read or operate
  std::vector<std::string> jobs;            ///< token: patterns of jobs; none: all jobs
  std::string format = "text";
};

/// The row of `l4 keys`, with the rows of its commands.
terminal::Command keys_command();

/// Exit status: 0 done; 2 wrong use, or a file that cannot be read or written.
int run_keys(const KeysOptions& options);

}  // namespace l4::commands::keys
