// `l4 check`: whether a running site is well: aggregator, agents, sinks of alerts.
//
// Flow: options -> the aggregator's answers -> findings.h -> a table of the agents, a row for each
// finding with the next step, and the verdict; or JSON (schema l4.check/1). `--send` has the
// aggregator send a test alert through its sinks first.
#pragma once

#include <string>

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/terminal/command.h"

namespace l4::commands::check {

struct CheckOptions : ask::AskOptions {
  bool send = false;
  std::string sink;  ///< empty: all
  std::string format = "text";
};

terminal::Command check_command();

/// Exit status: 0 all is well; 10 something is to be looked at; 2 wrong use; 3 the aggregator did
/// not answer.
int run_check(const CheckOptions& options);

}  // namespace l4::commands::check
