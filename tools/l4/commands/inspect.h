// `l4 inspect`: how logs are read: sources, ranks, formats, iteration markers, share of times.
//
// Reads the input as `l4 diagnose` does and shows what it made of each file, as a table that fits
// the terminal, or as JSON (schema l4.inspect/1: files, summary, warnings).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "tools/l4/terminal/options.h"

namespace l4::commands {

struct InspectOptions {
  std::vector<std::filesystem::path> paths;
  std::string layout;
  std::filesystem::path config;  ///< TOML; empty: defaults
  std::string format = "text";
};

extern const char* const kInspectFooter;
void add_inspect(terminal::Options& to, InspectOptions& options);
Result<void> check_inspect(const InspectOptions& options);
/// Exit status: as for `l4 diagnose`.
int run_inspect(const InspectOptions& options);

}  // namespace l4::commands
