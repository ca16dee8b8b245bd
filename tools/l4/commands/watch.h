// `l4 watch JOB`: one job on one screen that is kept up to date.
//
// Flow: the aggregator is asked every few seconds -> the report as `l4 snapshot` shows it ->
// screen.h. Where standard output is no terminal, a line is written each time the verdict changes
// (JSON: the report on one line). While the aggregator does not answer, the screen says so and it
// is asked again. One thread.
#pragma once

#include <string>

#include "tools/l4/ask/ask_options.h"

namespace l4::commands {

struct WatchOptions : ask::AskOptions {
  std::string format = "text";
  std::string job;
  unsigned every_s = 2;     ///< seconds between two questions
  bool until_over = false;  ///< end when the job has failed, with 10, or finished
};

extern const char* const kWatchFooter;
void add_watch(terminal::Options& to, WatchOptions& options);
Result<void> check_watch(const WatchOptions& options);
/// Exit status: 0 ended by the user, or the job finished; 2 no such job; 3 no answer to the first
/// question; with `until_over` 10 once the job has failed.
int run_watch(const WatchOptions& options);

}  // namespace l4::commands
