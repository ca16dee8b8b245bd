#include "tools/l4/commands/pool/command.h"
#include "tools/l4/terminal/command.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands::pool {
namespace {

constexpr auto kPoolExit =
    R"(Exit status:
  0   done
  2   wrong use, no such run, or a file that is no export of a pool or cannot be written
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

constexpr auto kPoolListFooter =
    R"(Jobs whose lines are alike are of one kind. "origin" says who called the run good: its logs,
a word of 'l4 outcome', or a folder that was added.)";

constexpr auto kPoolAddFooter =
    R"(DIR holds the logs of one run that ended well, as for 'l4 diagnose --history'. What is normal
in them is sent: texts of templates, how often, and no line.

Examples:
  l4 pool add /logs/job-4705
  l4 pool add /logs/job-4705 --name pretrain --anyway

Exit status:
  0   done
  1   the logs do not say that the run ended well (without --anyway)
  2   wrong use, or the pool does not take it
  3   logs that cannot be read, or the aggregator did not answer

Environment: as for 'l4 jobs')";

constexpr auto kPoolDropFooter =
    R"(RUN as 'l4 pool list' names it. It does not come back by itself; 'l4 outcome JOB success', or
an import, brings it back.)";

constexpr auto kPoolExportFooter =
    R"(One JSON file, schema l4.pool/1, that 'l4 pool import' reads.

Examples:
  l4 pool export --out pool.json
  l4 pool import pool.json --address http://other-head:7440)";

constexpr auto kOutcomeFooter =
    R"(Weighs more than what the logs say. success: what the job has printed is normal from now on
for jobs of its kind. failure: its runs leave the pool. The same word again changes nothing.

Examples:
  l4 outcome job-4711 success
  l4 outcome job-4711 failure --note "the loss was NaN from iteration 300 on"

Exit status:
  0   it is stored
  2   wrong use, or no such job
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

using Action = PoolOptions::Action;

void add_alike(terminal::Options& to, PoolOptions& options, Action action) {
  options.action = action;
  ask::add_asking(to, options);
  to.format(options.format);
}

void add_list(terminal::Options& to, PoolOptions& options) {
  add_alike(to, options, Action::list);
  to.value("--kind", options.kind, "KIND", "only of this kind");
}

void add_show(terminal::Options& to, PoolOptions& options) {
  add_alike(to, options, Action::show);
  to.value("RUN", options.run, "", "see 'l4 pool list'").required();
  to.value("--top", options.top, "N", "so many events (default: 20)").between(1, 1'000'000);
}

void add_add(terminal::Options& to, PoolOptions& options) {
  add_alike(to, options, Action::add);
  to.value("DIR", options.path, "", "its logs").required();
  to.value("--name", options.name, "JOB", "of the job (default: that of the folder)");
  to.flag("--anyway", options.anyway, "although the logs do not say that it ended well");
  to.value("--config", options.config, "FILE", "settings; see config/diagnose.toml");
}

void add_drop(terminal::Options& to, PoolOptions& options) {
  add_alike(to, options, Action::drop);
  to.value("RUN", options.run, "", "see 'l4 pool list'").required();
}

void add_export(terminal::Options& to, PoolOptions& options) {
  add_alike(to, options, Action::export_runs);
  to.value("--kind", options.kind, "KIND", "only of this kind");
  to.value("--out", options.out, "FILE", "write it here and not to standard output");
}

void add_import(terminal::Options& to, PoolOptions& options) {
  add_alike(to, options, Action::import_runs);
  to.value("FILE", options.path, "", "or - for standard input").required();
}

void add_outcome(terminal::Options& to, PoolOptions& options) {
  add_alike(to, options, Action::outcome);
  to.value("JOB", options.job, "", "its name; see 'l4 jobs'").required();
  to.value("OUTCOME", options.outcome, "", "success or failure")
      .required()
      .one_of({"success", "failure"});
  to.value("--note", options.note, "TEXT", "why, for the log");
}

Result<void> check(const PoolOptions& options) {
  if (auto wrong = ask::check_asking(options); !wrong) return wrong;
  const auto is_dots = [](const std::string& name) { return name == "." || name == ".."; };
  if (options.action == Action::outcome && (options.job.empty() || is_dots(options.job)))
    return std::unexpected(Error{"", "say which JOB; 'l4 jobs' names them"});
  const bool of_run = options.action == Action::show || options.action == Action::drop;
  if (of_run && (options.run.empty() || is_dots(options.run)))
    return std::unexpected(Error{"", "say which RUN; 'l4 pool list' names them"});
  return terminal::check_writable("--out", options.out);
}

terminal::Command row(const char* name, const char* about, const std::string& footer,
                      void (*add)(terminal::Options&, PoolOptions&)) {
  return terminal::command(name, about, footer, add, run_pool, check);
}

std::string with_exit(const char* footer) {
  return std::string(footer) + "\n\n" + kPoolExit;
}

}  // namespace

terminal::Command pool_command() {
  return terminal::command_group(
      "pool", "healthy runs: list, show, add, drop, export, import",
      "'l4 pool COMMAND --help' says more about a command.",
      {row("list", "runs, by kind of job", with_exit(kPoolListFooter), add_list),
       row("show", "what is normal in a run", kPoolExit, add_show),
       row("add", "logs of a run that ended well", kPoolAddFooter, add_add),
       row("drop", "a run is not normal", with_exit(kPoolDropFooter), add_drop),
       row("export", "the runs as a file", with_exit(kPoolExportFooter), add_export),
       row("import", "runs of such a file", with_exit(kPoolExportFooter), add_import)});
}

terminal::Command outcome_command() {
  return row("outcome", "say how a job ended", kOutcomeFooter, add_outcome);
}

}  // namespace l4::commands::pool
