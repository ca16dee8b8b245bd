// `l4 watch JOB` and `l4 top`: one job, or all of them, on one screen that is kept up to date.
//
// Flow: the aggregator is asked every few seconds -> the report or the tables as `l4 snapshot` and
// `l4 jobs` show them -> screen.h. Where standard output is no terminal, `watch` writes a line each
// time the verdict changes (JSON: the report on one line), and `top` its tables once. An aggregator
// that no longer answers is said on the screen and asked again. One thread.
#pragma once

#include <functional>

#include "aggregator/diagnose/report.h"
#include "tools/l4/ask/asking.h"
#include "tools/l4/commands/live.h"

namespace l4::commands {

/// Exit status: 0 ended by the user, or the job finished; 2 no such job; 3 no answer to the first
/// question; with `until_over` 10 once the job has failed.
int run_watch(const LiveOptions& options,
              const std::function<ask::Answer<diagnose::Report>()>& ask);

/// Exit status: 0; 3 no answer to the first question.
int run_top(const LiveOptions& options, const ask::Aggregator& asked);

}  // namespace l4::commands
