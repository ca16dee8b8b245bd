// `l4 snapshot JOB`: the report of a running job, now or as it was; the reports that are stored.
//
// Flow: the aggregator's answer -> reports.h, or a list. Bounds: 64 MiB of answer, 60 s.
#pragma once

#include <string>

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/commands/reports.h"

namespace l4::commands {

struct SnapshotOptions : ask::AskOptions, ReportOptions {
  std::string job;
  std::string at;                    ///< id or time of a stored report; empty: now
  bool list = false, store = false;  ///< list the stored ones; store the one of now
};

extern const char* const kSnapshotFooter;
void add_snapshot(terminal::Options& to, SnapshotOptions& options);
Result<void> check_snapshot(const SnapshotOptions& options);
/// Exit status: that of show_report; 2 for an unknown job, or a time of which nothing is known.
int run_snapshot(const SnapshotOptions& options);

/// The argument JOB, or the error in an invalid one.
void add_job(terminal::Options& to, std::string& job);
Result<void> check_job(const std::string& job);

/// `at`: a time, or the id of a stored report; empty: now.
ask::Answer<diagnose::Report> fetch_snapshot(const ask::Aggregator& asked, const std::string& job,
                                             const std::string& at);

}  // namespace l4::commands
