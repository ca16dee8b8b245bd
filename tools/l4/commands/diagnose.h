// `l4 diagnose`: a folder of rank logs in, one report out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/diagnose/diagnose.h"
#include "common/base/error.h"
#include "common/base/time.h"
#include "common/base/vocabulary.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/options.h"

namespace l4::commands {

struct DiagnoseOptions {
  std::vector<std::filesystem::path> paths;
  std::vector<std::filesystem::path> history;
  std::string format = "text";
  std::filesystem::path out;    ///< empty: standard output
  std::filesystem::path html;   ///< empty: no HTML file
  std::filesystem::path lines;  ///< empty: no lines file
  std::string layout;
  std::string as_of_given, zone_given;  ///< as they were written; check_diagnose reads them
  std::optional<TimeMs> as_of;
  Millis zone{0};
  std::vector<std::filesystem::path> flows;  ///< flow records of the job's network
  std::filesystem::path topology;            ///< of that network
  std::filesystem::path config;              ///< TOML; empty: defaults
  std::filesystem::path faults;              ///< folder; empty: the shipped library
  std::filesystem::path table;               ///< empty: weights and numbers as shipped
  bool no_faults = false;
  std::string without_given;  ///< check_diagnose reads it
  diagnose::Parts without;
  std::string scoring = "l4";
  std::size_t top = 8;
  unsigned threads = 0;  ///< 0: all cores
  bool exit_code = false;
};

extern const char* const kDiagnoseFooter;
inline constexpr auto kLayoutHelp =
    "how paths name things: {node} {rank} {local_rank}\n"
    "{attempt} {job}, {*} for anything";
void add_diagnose(terminal::Options& to, DiagnoseOptions& options);
/// Reads times and zones, and checks what would otherwise fail only at the end of a long run.
Result<void> check_diagnose(DiagnoseOptions& options);
Result<void> check_layout(const std::string& layout);
int run_diagnose(const DiagnoseOptions& options);

}  // namespace l4::commands
