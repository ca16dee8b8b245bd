// `l4 top`: all jobs on one screen that is kept up to date.
//
// Flow: the aggregator is asked every few seconds -> the tables as `l4 jobs` and `l4 incidents`
// show them -> screen.h. Where standard output is no terminal, they are written once. One thread.
#pragma once

#include <string>

#include "tools/l4/ask/ask_options.h"

namespace l4::commands {

struct TopOptions : ask::AskOptions {
  std::string format = "text";
  unsigned every_s = 2;  ///< seconds between two questions
};

extern const char* const kTopFooter;
void add_top(terminal::Options& to, TopOptions& options);
/// Exit status: 0; 2 output that cannot be written; 3 no answer to the first question.
int run_top(const TopOptions& options);

}  // namespace l4::commands
