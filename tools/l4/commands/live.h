// `l4 jobs`, `l4 snapshot`, `l4 agents`, `l4 incidents`: what a running l4-aggregator knows; `l4
// lines`: raw lines, which it has read on the nodes; and
// `l4 show`, which shows a report that was kept.
//
// Flow: command line -> run_live -> common/http -> the aggregator's JSON -> live_json.h ->
// live_view.h, or the report as `l4 diagnose` prints it. Whatever the server sends is rendered
// harmless before it is printed. Bounds: 64 MiB of answer; 10 s for lists, 60 s for a snapshot and
// lines.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.h"
#include "tools/l4/ask/ask_options.h"

namespace CLI {
class App;
}

namespace l4::commands {

struct LiveOptions : ask::AskOptions {
  enum class Action { jobs, snapshot, agents, incidents, lines, show, watch, top };

  Action action = Action::jobs;
  std::string format = "text";
  std::string job;                              ///< snapshot, lines; incidents: of this one
  std::string template_id, node, rank, around;  ///< lines; empty: not asked for
  std::size_t context = 5, limit = 200;         ///< lines
  std::string incident;              ///< incidents: this one, with its report; empty: the list
  bool open = false;                 ///< incidents: only those
  bool list = false, store = false;  ///< snapshot: those that are stored; store the one of now
  std::string at;                    ///< snapshot: id, or time; empty: now
  bool follow = false;               ///< incidents: each change, as it comes
  bool opening = false;              ///< the report as it was when the incident opened
  std::size_t count = 100;           ///< incidents
  std::filesystem::path file;        ///< show: a report in JSON; `-`: standard input
  std::string diff;                  ///< what to compare with; see compared.h; empty: nothing
  std::filesystem::path out;         ///< of a report; empty: standard output
  std::size_t top = 8;               ///< of a report
  unsigned every_s = 2;              ///< watch, top: between two questions
  bool until_over = false;           ///< watch: end when the job has failed, with 10, or finished
  bool exit_code = false;            ///< end with 10 if the job failed, or if lines are missing
};

void add_live(CLI::App& app, LiveOptions& options);
Result<void> check(const LiveOptions& options);

/// Exit status: 0 done; 2 wrong use, no such job, or output that cannot be written; 3 the
/// aggregator did not answer, or not with what was asked for; 10 the job failed, or lines are
/// missing (with `exit_code`).
int run_live(const LiveOptions& options);

}  // namespace l4::commands
