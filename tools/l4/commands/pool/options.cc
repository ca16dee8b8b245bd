#include <CLI/CLI.hpp>

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/commands/pool/command.h"
#include "tools/l4/terminal/options.h"
#include "tools/l4/terminal/suggest.h"

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

}  // namespace

void add_pool(CLI::App& app, PoolOptions& options) {
  using Action = PoolOptions::Action;
  auto* pool = app.add_subcommand("pool", "healthy runs: list, show, add, drop, export, import");
  pool->footer("'l4 pool COMMAND --help' says more about a command.");
  const auto add = [&](CLI::App* to, const char* name, const char* what, const std::string& footer,
                       Action action) {
    auto* command = to->add_subcommand(name, what);
    command->footer(footer);
    command->callback([&options, action] { options.action = action; });
    ask::add_asking(command, options);
    terminal::add_format(command, options.format);
    return command;
  };
  const auto with_exit = [](const char* footer) {
    return std::string(footer) + "\n\n" + kPoolExit;
  };
  auto* listed =
      add(pool, "list", "runs, by kind of job", with_exit(kPoolListFooter), Action::list);
  listed->add_option("--kind", options.kind, "only of this kind")->type_name("KIND");
  auto* shown = add(pool, "show", "what is normal in a run", kPoolExit, Action::show);
  shown->add_option("RUN", options.run, "see 'l4 pool list'")->type_name("")->required();
  shown->add_option("--top", options.top, "so many events (default: 20)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u).description(""));
  auto* added = add(pool, "add", "logs of a run that ended well", kPoolAddFooter, Action::add);
  added->add_option("DIR", options.path, "its logs")->type_name("")->required();
  added->add_option("--name", options.name, "of the job (default: that of the folder)")
      ->type_name("JOB");
  added->add_flag("--anyway", options.anyway, "although the logs do not say that it ended well");
  added->add_option("--config", options.config, "settings; see config/diagnose.toml")
      ->type_name("FILE");
  auto* dropped =
      add(pool, "drop", "a run is not normal", with_exit(kPoolDropFooter), Action::drop);
  dropped->add_option("RUN", options.run, "see 'l4 pool list'")->type_name("")->required();
  auto* kept =
      add(pool, "export", "the runs as a file", with_exit(kPoolExportFooter), Action::export_runs);
  kept->add_option("--kind", options.kind, "only of this kind")->type_name("KIND");
  kept->add_option("--out", options.out, "write it here and not to standard output")
      ->type_name("FILE");
  auto* imported =
      add(pool, "import", "runs of such a file", with_exit(kPoolExportFooter), Action::import_runs);
  imported->add_option("FILE", options.path, "or - for standard input")->type_name("")->required();
  auto* told = add(&app, "outcome", "say how a job ended", kOutcomeFooter, Action::outcome);
  told->add_option("JOB", options.job, "its name; see 'l4 jobs'")->type_name("")->required();
  told->add_option("OUTCOME", options.outcome, "success or failure")
      ->type_name("")
      ->required()
      ->check(terminal::one_of({"success", "failure"}));
  told->add_option("--note", options.note, "why, for the log")->type_name("TEXT");
}

Result<void> check(const PoolOptions& options) {
  if (auto wrong = ask::check_asking(options); !wrong) return wrong;
  const auto is_dots = [](const std::string& name) { return name == "." || name == ".."; };
  if (options.action == PoolOptions::Action::outcome &&
      (options.job.empty() || is_dots(options.job)))
    return std::unexpected(Error{"", "say which JOB; 'l4 jobs' names them"});
  const bool of_run =
      options.action == PoolOptions::Action::show || options.action == PoolOptions::Action::drop;
  if (of_run && (options.run.empty() || is_dots(options.run)))
    return std::unexpected(Error{"", "say which RUN; 'l4 pool list' names them"});
  return {};
}

}  // namespace l4::commands::pool
