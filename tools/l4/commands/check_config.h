// `l4 check-config FILE...`: whether l4-agent, l4-aggregator and l4 could start with these.
//
// Flow: file -> its program, found by its tables -> the program's own reader, which also reads the
// keys, tokens, certificates, rule packs and faults that the file names. Opens no connection.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/l4/terminal/options.h"

namespace l4::commands {

struct CheckConfigOptions {
  std::vector<std::filesystem::path> files;
  std::string format = "text";
  std::string as;  ///< agent, aggregator, diagnose or client; empty: told by each file's tables
};

extern const char* const kCheckConfigFooter;
void add_check_config(terminal::Options& to, CheckConfigOptions& options);
/// Writes a line for each file to standard output, or all as JSON (schema l4.config_check/1), and
/// each error to standard error, too. Exit status: 0 all can be used; 2 one cannot.
int run_check_config(const CheckConfigOptions& options);

}  // namespace l4::commands
