// `l4 lines JOB`: raw lines of a running job, which the agents read on their nodes.
//
// Flow: the aggregator's answer -> lines_view.h. Bounds: 64 MiB of answer, 60 s.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "tools/l4/ask/ask_options.h"

namespace l4::commands {

struct LinesOptions : ask::AskOptions {
  std::string format = "text";
  std::string job;
  std::string template_id, node, rank, around;  ///< empty: any
  std::size_t context = 5, limit = 200;
  std::filesystem::path out;  ///< empty: standard output
  bool exit_code = false;     ///< end with 10 if something is missing
};

extern const char* const kLinesFooter;
void add_lines(terminal::Options& to, LinesOptions& options);
Result<void> check_lines(const LinesOptions& options);
/// Exit status: 0 done; 2 no such job, node, rank or template, or output that cannot be written; 3
/// the aggregator did not answer; 10 lines are missing (with `exit_code`).
int run_lines(const LinesOptions& options);

}  // namespace l4::commands
