// `l4 pool` and `l4 outcome`: the healthy runs with which a running aggregator compares jobs.
//
// Flow: command line -> run_pool -> common/http -> the aggregator's JSON, which pool/run_json.h
// reads. `add` reads logs of a healthy run as `l4 diagnose --history` does and sends what is normal
// in them; `export` and `import` keep runs as one file, schema l4.pool/1, which is checked
// whole before anything is sent. Blocking. A pool of any size: pages of it, or one run of its file,
// are in memory at a time.
#pragma once

#include <filesystem>
#include <string>

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/terminal/command.h"

namespace l4::commands::pool {

struct PoolOptions : ask::AskOptions {
  enum class Action { list, show, add, drop, export_runs, import_runs, outcome };

  Action action = Action::list;
  std::string format = "text";
  std::string run;               ///< show, drop
  std::string kind;              ///< list, export: only this kind; empty: all
  std::filesystem::path path;    ///< add: logs; import: a file, `-`: standard input
  std::string name;              ///< add: name of the job; empty: the name of the folder
  bool anyway = false;           ///< add: even if the logs do not say that the run ended well
  std::filesystem::path config;  ///< add: settings of `l4 diagnose`
  std::filesystem::path out;     ///< export; empty: standard output
  std::size_t top = 20;          ///< show: events
  std::string job, outcome, note;
};

/// The row of `l4 pool`, with those of its commands, and the row of `l4 outcome`.
terminal::Command pool_command();
terminal::Command outcome_command();

/// Exit status: 0 done; 1 refused for its content (add: the run did not end well); 2 wrong use, no
/// such run or job, a file that is no pool; 3 logs that cannot be read, or the aggregator did not
/// answer.
int run_pool(const PoolOptions& options);

}  // namespace l4::commands::pool
