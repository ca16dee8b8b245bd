// The command line of a service, agent or aggregator: which settings, and whether only to check
// them.
#pragma once

#include <filesystem>
#include <optional>

namespace l4 {

/// A program that runs as a service. The texts live as long as the program.
struct Service {
  const char* name;     ///< "l4-agent"
  const char* version;  ///< "0.1.0"
  const char* help;     ///< from "usage:" to its last line feed
};

struct ServiceOptions {
  std::filesystem::path config;  ///< from --config, else the argument of `read_service_options`
  bool check_only = false;       ///< --check-config
  /// The exit status where nothing is left to do: help or version was printed, or wrong use was
  /// explained on standard error (2).
  std::optional<int> exit;
};

/// Reads GNU options with getopt_long, once, in the main thread. An empty `config` makes --config
/// an option that must be given.
ServiceOptions read_service_options(int argc, char* const* argv, const Service& service,
                                    std::filesystem::path config = {});

}  // namespace l4
