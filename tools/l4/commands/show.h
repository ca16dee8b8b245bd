// `l4 show FILE`: a report that was kept as JSON; no aggregator is asked.
#pragma once

#include <filesystem>

#include "tools/l4/commands/reports.h"

namespace l4::commands {

struct ShowOptions : ReportOptions {
  std::filesystem::path file;  ///< `-`: standard input
};

extern const char* const kShowFooter;
void add_show(terminal::Options& to, ShowOptions& options);
Result<void> check_show(const ShowOptions& options);
/// Exit status: that of show_report; 3 for a file that is not a report.
int run_show(const ShowOptions& options);

}  // namespace l4::commands
