// `l4 jobs`: the jobs that a running aggregator knows, as a table or as JSON.
#pragma once

#include <string>

#include "tools/l4/ask/ask_options.h"

namespace l4::commands {

struct JobsOptions : ask::AskOptions {
  std::string format = "text";
};

extern const char* const kJobsFooter;
void add_jobs(terminal::Options& to, JobsOptions& options);
/// Exit status: 0 done; 2 output that cannot be written; 3 the aggregator did not answer.
int run_jobs(const JobsOptions& options);

}  // namespace l4::commands
