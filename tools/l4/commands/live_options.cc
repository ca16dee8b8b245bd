#include <CLI/CLI.hpp>

#include "common/http/url.h"
#include "tools/l4/ask/ask_options.h"
#include "tools/l4/commands/live.h"
#include "tools/l4/terminal/options.h"

namespace l4::commands {
namespace {

constexpr auto kJobsFooter =
    R"(The jobs that need a look stand first. A question mark behind a state: suspected, and not
yet confirmed. "since" is when it began, "last line" when the aggregator last heard of it.

Examples:
  l4 jobs
  l4 jobs --address http://head-node:7440 --format json
  l4 jobs --address https://head-node:7440 --ca ca.pem

Exit status:
  0   the aggregator answered
  2   wrong use
  3   it did not, or its certificate was not believed

Environment:
  L4_ADDRESS  the aggregator, where --address is not given
  L4_TOKEN    the token to ask with, where --token-file is not given
  L4_CA       whom to believe over https, where --ca is not given
  L4_CLIENT   file that says all three where nothing else does
              (default: ~/.config/l4/client.toml, else /etc/l4/client.toml)
  NO_COLOR    if set, no colours)";

constexpr auto kSnapshotFooter =
    R"(The report is the one that 'l4 diagnose' would make of the same lines. --at TIME shows it as
the job stood then, by the aggregator's clock, as far back as its journal goes. Reports are also
stored, whenever an incident opens and by --store, for longer; --at ID shows one of those. What
--diff names came before: a time or ID of this job, another job (JOB, JOB@TIME, JOB@ID), or a file
that was written with -o json, which 'l4 show FILE' reads anywhere.

Examples:
  l4 snapshot job-4711
  l4 snapshot job-4711 --list
  l4 snapshot job-4711 --at 2026-11-20T15:54:42Z -o json --out before.json
  l4 snapshot job-4711 --diff 2026-11-20T15:54:42Z
  l4 snapshot job-4711 --at 2026-11-20T15:54:42Z --diff s1795190022000
  l4 snapshot job-4711 --diff job-4710
  l4 snapshot job-4711 --diff before.json

Exit status:
  0   here is the report
  2   wrong use, no such job, nothing known of that time, or output that cannot be written
  3   the aggregator did not answer, or was busy
  10  with --exit-code: the job failed

Environment: as for 'l4 jobs')";

constexpr auto kWatchFooter =
    R"(q or Ctrl-C ends it. Where standard output is no terminal, a line is written each time the
verdict changes; with --format json that line is the whole report.

Examples:
  l4 watch job-4711
  l4 watch job-4711 --until-over || notify-send "job-4711 failed"

Exit status:
  0   ended by you; with --until-over: the job finished
  2   wrong use, no such job, or output that cannot be written
  3   the aggregator did not answer the first time
  10  with --until-over: the job failed

Environment: as for 'l4 jobs')";

constexpr auto kTopFooter =
    R"(Agents in short, open incidents, then all jobs, the ones that need a look first. q or Ctrl-C
ends it. Where standard output is no terminal, it is written once.

Exit status:
  0   the aggregator answered
  2   wrong use, or output that cannot be written
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

constexpr auto kAgentsFooter =
    R"(Lost agents stand first. "held" is what an agent keeps because it is not acknowledged yet,
"left out" what it no longer sends of each line, under pressure; "clock" by how much its clock
is ahead.

Exit status:
  0   the aggregator answered
  2   wrong use, or output that cannot be written
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

constexpr auto kIncidentsFooter =
    R"(Open ones stand first, then the newest. With the id of one its report is shown: the newest
one that was made while it was open, or with --opening the first. With --follow nothing of the
past is listed: each incident that opens, changes or is resolved from now on is a line (with
-o json an object, schema l4.alert/1), and so is it when agents fall silent; the aggregator is
asked again where the connection ends.

Examples:
  l4 incidents
  l4 incidents --job job-4711 --open
  l4 incidents --follow -o json | while read -r change; do ...; done
  l4 incidents job-4711.0.1795363200
  l4 incidents job-4711.0.1795363200 --format json --out incident.json

Exit status:
  0   the aggregator answered
  2   wrong use, no such incident, or output that cannot be written
  3   the aggregator did not answer
  10  with --exit-code: the job of this incident failed

Environment: as for 'l4 jobs')";

constexpr auto kLinesFooter =
    R"(The agents read the lines on their nodes, rotated and packed files (.gz, .zst) too, and blot
secrets out there. With --template: lines of it, the newest; else with --around the first line at
or behind that time; else the end of each log. --template, --node and --rank may be combined. A
sign > stands before the lines that were asked for, the others are their context. What is gone,
cannot be reached or was left out is said at the end. The aggregator logs who asks.

Examples:
  l4 lines job-4711 --rank 24
  l4 lines job-4711 --node node-03 --around 2026-11-20T15:54:42Z --context 20
  l4 lines job-4711 --template 00c5ab12f4de7790 --limit 50 -o json

Exit status:
  0   the aggregator answered
  2   wrong use, no such job, node, rank or template, or output that cannot be written
  3   the aggregator did not answer
  10  with --exit-code: something is missing

Environment: as for 'l4 jobs')";

constexpr auto kShowFooter =
    R"(FILE is what 'l4 snapshot', 'l4 incidents ID' or 'l4 diagnose' wrote with --format json; no
aggregator is asked. A dash stands for standard input.

Examples:
  l4 show report.json
  l4 show now.json --diff before.json
  curl -s http://head-node:7440/api/v1/jobs/job-4711/snapshot | l4 show -

Exit status:
  0   here is the report
  2   wrong use, or output that cannot be written
  3   the file cannot be read, or is no report
  10  with --exit-code: the job failed)";

/// What shapes a report.
void add_report_options(CLI::App* command, LiveOptions& options, const char* before = "FILE") {
  command->add_option("--diff", options.diff, "what has changed since this report")
      ->type_name(before);
  command->add_option("--out", options.out, "write the report here and not to standard output")
      ->type_name("FILE");
  command->add_option("--top", options.top, "rows of each list in the text report (default: 8)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u).description(""));
  command->add_flag("--exit-code", options.exit_code, "end with 10 if the job failed");
}

void add_lines(CLI::App* command, LiveOptions& options) {
  command->add_option("JOB", options.job, "its name; see 'l4 jobs'")->type_name("")->required();
  command->add_option("--template", options.template_id, "lines of this template; see a report")
      ->type_name("ID");
  command->add_option("--node", options.node, "lines of this node")->type_name("NODE");
  command->add_option("--rank", options.rank, "lines of this rank")->type_name("RANK");
  command->add_option("--around", options.around, "near this time, such as 2026-11-20T15:54:42Z")
      ->type_name("TIME");
  command->add_option("--context", options.context, "lines before and behind each (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(0u, 100u).description(""));
  command->add_option("--limit", options.limit, "so many at most (default: 200)")
      ->type_name("N")
      ->check(CLI::Range(1u, 10'000u).description(""));
  command->add_option("--out", options.out, "write them here and not to standard output")
      ->type_name("FILE");
  command->add_flag("--exit-code", options.exit_code, "end with 10 if something is missing");
}

}  // namespace

void add_live(CLI::App& app, LiveOptions& options) {
  const auto add = [&](const char* name, const char* what, const char* footer,
                       LiveOptions::Action action) {
    auto* command = app.add_subcommand(name, what);
    command->footer(footer);
    command->callback([&options, action] { options.action = action; });
    if (action != LiveOptions::Action::show) {
      ask::add_asking(command, options);
    }
    terminal::add_format(command, options.format);
    return command;
  };
  using enum LiveOptions::Action;
  add("jobs", "jobs that a running aggregator watches", kJobsFooter, jobs);
  auto* snapshot_command =
      add("snapshot", "report of a running job as it stands now", kSnapshotFooter, snapshot);
  snapshot_command->add_option("JOB", options.job, "its name; see 'l4 jobs'")
      ->type_name("")
      ->required();
  snapshot_command
      ->add_option("--at", options.at, "as it stood at this time, or the stored one of this id")
      ->type_name("TIME|ID");
  snapshot_command->add_flag("--list", options.list, "those that are stored");
  snapshot_command->add_flag("--store", options.store, "store the one of now, and name it");
  add_report_options(snapshot_command, options, "TIME|ID|JOB|FILE");
  auto* incidents_command =
      add("incidents", "failures of jobs, open and resolved", kIncidentsFooter, incidents);
  incidents_command->add_option("ID", options.incident, "this one, with its report")->type_name("");
  incidents_command->add_option("--job", options.job, "of this job")->type_name("JOB");
  incidents_command->add_flag("--open", options.open, "only those that are open");
  incidents_command->add_flag("--follow", options.follow,
                              "each change from now on, a line each, until Ctrl-C");
  incidents_command->add_flag("--opening", options.opening, "the report as it was at its opening");
  incidents_command->add_option("--count", options.count, "so many at most (default: 100)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u).description(""));
  add_report_options(incidents_command, options);
  add_lines(add("lines", "raw lines of a running job, from its nodes", kLinesFooter, lines),
            options);
  const auto add_every = [&](CLI::App* command) {
    command->add_option("--every", options.every_s, "between two looks (default: 2)")
        ->type_name("SECONDS")
        ->check(CLI::Range(1u, 3'600u).description(""));
  };
  auto* watch_command =
      add("watch", "a running job on one screen, kept up to date", kWatchFooter, watch);
  watch_command->add_option("JOB", options.job, "its name; see 'l4 jobs'")
      ->type_name("")
      ->required();
  watch_command->add_flag("--until-over", options.until_over,
                          "end when the job has failed or finished");
  add_every(watch_command);
  add_every(add("top", "all jobs on one screen, kept up to date", kTopFooter, top));
  auto* show_command = add("show", "a report that was kept as JSON", kShowFooter, show);
  show_command->add_option("FILE", options.file, "the report")->type_name("")->required();
  add_report_options(show_command, options);
  add("agents", "agents that ship to a running aggregator", kAgentsFooter, agents);
}

Result<void> check(const LiveOptions& options) {
  if (auto wrong = ask::check_asking(options); !wrong) return wrong;
  const bool lines = options.action == LiveOptions::Action::lines;
  const bool of_job = lines || options.action == LiveOptions::Action::snapshot ||
                      options.action == LiveOptions::Action::watch;
  if (of_job && (options.job.empty() || options.job == "." || options.job == ".."))
    return std::unexpected(Error{"", "say which JOB; 'l4 jobs' names them"});
  if (options.action == LiveOptions::Action::incidents && options.opening &&
      options.incident.empty())
    return std::unexpected(Error{"--opening", "say the ID of the incident"});
  if ((options.list || options.store) && (!options.at.empty() || !options.diff.empty() ||
                                          !options.out.empty() || (options.list && options.store)))
    return std::unexpected(
        Error{options.list ? "--list" : "--store", "stands alone: it shows no report"});
  if (options.follow &&
      (!options.incident.empty() || options.open || !options.diff.empty() || !options.out.empty()))
    return std::unexpected(Error{"--follow",
                                 "goes with --job, and not with ID, --open, --diff "
                                 "or --out"});
  if (lines && options.template_id.empty() && options.node.empty() && options.rank.empty())
    return std::unexpected(Error{"", "say which lines: --template, --node or --rank"});
  return {};
}

}  // namespace l4::commands
