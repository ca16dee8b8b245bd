// The flags that commands have alike: which aggregator to ask, as whom, and in what form to say it.
//
// Flow: command line -> options -> find_aggregator (asking.h). No state.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.h"

namespace CLI {
class App;
}

namespace l4::ask {

/// What flags say, or a client.toml; asking.h says what comes first.
struct AskOptions {
  std::string address;               ///< URL; empty: not said
  std::filesystem::path token_file;  ///< empty: not said
  std::filesystem::path ca;  ///< PEM of the authorities to believe over https; empty: not said
};

/// --address, --token-file and --ca.
void add_asking(CLI::App* command, AskOptions& options);
/// Error: an address that is none.
Result<void> check_asking(const AskOptions& options);

}  // namespace l4::ask
