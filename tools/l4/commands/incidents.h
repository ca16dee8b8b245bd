// `l4 incidents`: failures of jobs as a list, one with its report, or each change as it comes.
//
// Flow: the aggregator's answer -> a table, reports.h or follow.h.
#pragma once

#include <cstddef>
#include <string>

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/commands/reports.h"

namespace l4::commands {

struct IncidentsOptions : ask::AskOptions, ReportOptions {
  std::string incident;     ///< show this one, with its report; empty: the list
  std::string job;          ///< only those of this job
  bool open = false;        ///< only those that are open
  bool follow = false;      ///< each change, as it comes
  bool opening = false;     ///< the report as it was when the incident opened
  std::size_t count = 100;  ///< rows at most
};

extern const char* const kIncidentsFooter;
void add_incidents(terminal::Options& to, IncidentsOptions& options);
Result<void> check_incidents(const IncidentsOptions& options);
/// Exit status: that of show_report; 2 for an unknown incident or job.
int run_incidents(const IncidentsOptions& options);

}  // namespace l4::commands
