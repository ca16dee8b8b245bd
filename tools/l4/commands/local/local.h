// `l4 local`: agent and aggregator in one process, for a workstation, a single node, or a login
// node that sees all logs.
//
// Flow: paths -> Site (state folder, token) -> Pair (agent and aggregator) -> Story on standard
// output, until a signal ends it. Other commands of the same user find it by themselves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/l4/terminal/command.h"

namespace l4::commands::local {

struct LocalOptions {
  std::vector<std::string> paths;
  std::filesystem::path state;   ///< empty: below ask::local_states()
  std::filesystem::path config;  ///< aggregator.toml without [wire] and [http]; empty: defaults
  unsigned port = 0;             ///< of HTTP; 0: any free one
  bool no_processes = false;
  std::string format = "text";  ///< json: each event of the aggregator as a line
};

terminal::Command local_command();

/// The paths as an agent's sources: absolute, without `.` and `..`. Error: a path without wildcards
/// that does not exist, with a name that is there.
Result<std::vector<std::string>> sources_of(const std::vector<std::string>& paths,
                                            const std::filesystem::path& from);

}  // namespace l4::commands::local
