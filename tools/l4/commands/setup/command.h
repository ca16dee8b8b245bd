// `l4 setup aggregator` and `l4 setup agent`: write working settings from three answers, and look
// whether this machine is ready for them.
//
// Flow: options, or questions at the terminal -> answers -> the text of the settings, which the
// program's own reader must accept -> checks of the machine -> the file -> the commands that start
// the program. Settings with which the program could not start (no key, no tokens) are refused and
// not written; what can be mended outside of the file (a port in use, no log yet, rights) is said,
// and the file is written all the same. JSON: schema l4.setup/1.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/l4/terminal/command.h"

namespace l4::commands::setup {

/// What both commands have.
struct CommonOptions {
  std::filesystem::path out, state;
  bool replace = false, print = false;
  std::string format = "text";
};

struct AggregatorOptions : CommonOptions {
  std::string address;           ///< tcp://HOST:PORT, as agents reach it
  std::filesystem::path keys;    ///< folder that `l4 keys init` has made
  std::string http;              ///< ADDRESS:PORT
  std::filesystem::path tokens;  ///< empty: those of the folder of keys, if there are any
  AggregatorOptions();
};

struct AgentOptions : CommonOptions {
  std::string aggregator;  ///< tcp://HOST:PORT
  std::filesystem::path key;
  std::vector<std::string> sources;
  AgentOptions();
};

/// The row of `l4 setup`, with the rows of its commands.
terminal::Command setup_command();

/// Exit status: 0 written, and all is well; 2 nothing is written; 10 written, and something is to
/// be looked at.
int run_setup_aggregator(const AggregatorOptions& options);
int run_setup_agent(const AgentOptions& options);

}  // namespace l4::commands::setup
