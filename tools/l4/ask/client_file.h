// client.toml: address and token of the user's aggregator.
// Flow: find_client_file -> read_client_file -> find_aggregator (asking.h), which prefers flags and
// the environment. Read strictly: an unknown key is an error with file, line and key. Paths in it
// are relative to its folder. No state.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.h"
#include "tools/l4/ask/ask_options.h"

namespace l4::ask {

/// The value of an environment variable; empty: not set.
std::string of_environment(const char* name);

/// The file that L4_CLIENT names, even if it does not exist; else that of the `l4 local` of this
/// user that runs now; else the first that exists of l4/client.toml in XDG_CONFIG_HOME or
/// ~/.config, and /etc/l4/client.toml. Empty if there is none. Error: several `l4 local` run.
Result<std::filesystem::path> find_client_file();

/// An empty `file` gives empty options.
Result<AskOptions> read_client_file(const std::filesystem::path& file);

}  // namespace l4::ask
