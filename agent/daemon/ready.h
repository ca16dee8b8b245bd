// The settings of `l4-agent`, its key and its name, read and checked without connecting.
//
// Flow: file -> settings.h, key file -> Ready -> main, or `l4 check-config`. Thread-safe, no state.
#pragma once

#include <filesystem>
#include <string>

#include "agent/daemon/settings.h"
#include "common/base/error.h"
#include "common/wire/zmq/key_file.h"

namespace l4::daemon {

/// The name of this host; in a container, which has a host name of its own, that of L4_NODE.
std::string host_name();

struct Ready {
  Settings settings;
  wire::NodeKey key;
  std::string
      name;  ///< the agent's: from its key; with a fleet's key from link.name, else the host name
};

/// Error: file, line and key of the config, or the file that it names.
Result<Ready> read_config(const std::filesystem::path& file);

}  // namespace l4::daemon
