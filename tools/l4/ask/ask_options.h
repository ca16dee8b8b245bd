// The options that name the aggregator to ask, and the token to use.
//
// Flow: command line -> options -> find_aggregator (asking.h). No state.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.h"
#include "tools/l4/terminal/options.h"

namespace l4::ask {

/// The options from flags or a client.toml; asking.h has their order.
struct AskOptions {
  std::string address;               ///< URL; empty: not given
  std::filesystem::path token_file;  ///< empty: not given
  std::filesystem::path ca;  ///< PEM of the authorities to believe over https; empty: not given
};

inline constexpr auto kAddressHelp =
    "where l4-aggregator answers (default: $L4_ADDRESS,\n"
    "else that of client.toml, else http://127.0.0.1:7440)";

/// --address, --token-file and --ca.
void add_asking(terminal::Options& to, AskOptions& options, const char* address = kAddressHelp);
/// Error: the address is invalid.
Result<void> check_asking(const AskOptions& options);

}  // namespace l4::ask
