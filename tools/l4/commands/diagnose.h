// `l4 diagnose`: a folder of rank logs in, one report out (design.md 6.2).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/base/vocabulary.h"
#include "tools/l4/terminal/exit.h"

namespace l4::commands {

struct DiagnoseOptions {
  std::vector<std::filesystem::path> paths;
  std::vector<std::filesystem::path> history;
  std::string format = "text";
  std::filesystem::path out;    ///< empty: standard output
  std::filesystem::path lines;  ///< empty: no lines file
  std::string layout;
  std::optional<TimeMs> as_of;
  Millis zone{0};
  std::filesystem::path config;  ///< TOML; empty: defaults
  std::filesystem::path faults;  ///< folder; empty: the shipped library
  bool no_faults = false;
  std::string scoring = "l4";
  std::size_t top = 8;
  unsigned threads = 0;  ///< 0: all cores
  bool exit_code = false;
};

/// Not well, not ended well, and known.
bool is_failure(State state);

int run_diagnose(const DiagnoseOptions& options);

}  // namespace l4::commands
