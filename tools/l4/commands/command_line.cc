#include "tools/l4/commands/command_line.h"

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/commands/agents.h"
#include "tools/l4/commands/check/command.h"
#include "tools/l4/commands/check_config.h"
#include "tools/l4/commands/completion.h"
#include "tools/l4/commands/demo/command.h"
#include "tools/l4/commands/diagnose.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/fit/command.h"
#include "tools/l4/commands/flows/command.h"
#include "tools/l4/commands/incidents.h"
#include "tools/l4/commands/inspect.h"
#include "tools/l4/commands/jobs.h"
#include "tools/l4/commands/keys/command.h"
#include "tools/l4/commands/lines.h"
#include "tools/l4/commands/local/local.h"
#include "tools/l4/commands/parse.h"
#include "tools/l4/commands/pool/command.h"
#include "tools/l4/commands/quiet.h"
#include "tools/l4/commands/setup/command.h"
#include "tools/l4/commands/show.h"
#include "tools/l4/commands/snapshot.h"
#include "tools/l4/commands/top.h"
#include "tools/l4/commands/watch.h"

namespace l4::commands {
namespace {

constexpr auto kAbout =
    "Says why a large training job crashed, hung or slowed down, and where it began,\n"
    "from the logs of its ranks.";

constexpr auto kFooter = R"(Examples:
  l4 demo                                       the live system, while a recorded job breaks
  l4 diagnose /logs/job-4711                    what happened to this job
  l4 diagnose job.tar.gz --history good-run     compared with a run that went well
  kubectl logs worker-3 | l4 diagnose -         one log, as it is at hand
  l4 inspect /logs/job-4711                     what is there, and how it is read
  dmesg | l4 faults match -                     which lines show a known fault
  l4 local /logs/job-4711                       follow a job that runs, on this machine
  l4 jobs                                       running jobs, where l4-aggregator watches

'l4 COMMAND --help' says more about a command.)";

}  // namespace

const terminal::Program& program() {
  static const terminal::Program kProgram{"l4", "l4 " L4_VERSION, kAbout, kFooter};
  return kProgram;
}

std::vector<terminal::Command> commands() {
  using terminal::command;
  const auto asks = [](const ask::AskOptions& options) { return ask::check_asking(options); };
  return {
      command("diagnose", "why did this job fail, and where did it begin", kDiagnoseFooter,
              add_diagnose, run_diagnose, check_diagnose),
      command("parse", "which template each line has", kParseFooter, add_parse, run_parse),
      command("inspect", "how logs are read: sources, ranks, times", kInspectFooter, add_inspect,
              run_inspect, check_inspect),
      faults::faults_command(),
      flows::flows_command(),
      local::local_command(),
      command("jobs", "jobs that a running aggregator watches", kJobsFooter, add_jobs, run_jobs,
              asks),
      command("snapshot", "report of a running job as it stands now", kSnapshotFooter, add_snapshot,
              run_snapshot, check_snapshot),
      command("incidents", "failures of jobs, open and resolved", kIncidentsFooter, add_incidents,
              run_incidents, check_incidents),
      ack_command(),
      maintenance_command(),
      command("lines", "raw lines of a running job, from its nodes", kLinesFooter, add_lines,
              run_lines, check_lines),
      command("watch", "a running job on one screen, kept up to date", kWatchFooter, add_watch,
              run_watch, check_watch),
      command("top", "all jobs on one screen, kept up to date", kTopFooter, add_top, run_top, asks),
      command("show", "a report that was kept as JSON", kShowFooter, add_show, run_show,
              check_show),
      command("agents", "agents that ship to a running aggregator", kAgentsFooter, add_agents,
              run_agents, asks),
      pool::pool_command(),
      pool::outcome_command(),
      fit::fit_command(),
      keys::keys_command(),
      demo::demo_command(),
      setup::setup_command(),
      check::check_command(),
      command("check-config", "whether the programs could start with these", kCheckConfigFooter,
              add_check_config, run_check_config),
      command("completion", "a script that lets a shell complete l4", kCompletionFooter,
              add_completion, run_completion),
  };
}

CommandLine read_command_line(int argc, const char* const* argv) {
  return terminal::parse_command_line(program(), commands(), argc, argv);
}

}  // namespace l4::commands
