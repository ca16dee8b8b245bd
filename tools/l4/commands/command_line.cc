#include "tools/l4/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "aggregator/serve/utf8.h"
#include "common/base/check.h"
#include "tools/l4/ask/ask_options.h"
#include "tools/l4/commands/agents.h"
#include "tools/l4/commands/check_config.h"
#include "tools/l4/commands/completion.h"
#include "tools/l4/commands/diagnose.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/incidents.h"
#include "tools/l4/commands/inspect.h"
#include "tools/l4/commands/jobs.h"
#include "tools/l4/commands/keys/command.h"
#include "tools/l4/commands/lines.h"
#include "tools/l4/commands/parse.h"
#include "tools/l4/commands/pool/command.h"
#include "tools/l4/commands/show.h"
#include "tools/l4/commands/snapshot.h"
#include "tools/l4/commands/top.h"
#include "tools/l4/commands/watch.h"
#include "tools/l4/terminal/suggest.h"

namespace l4::commands {
namespace {

constexpr auto kAbout =
    "Says why a large training job crashed, hung or slowed down, and where it began,\n"
    "from the logs of its ranks.";

constexpr auto kFooter = R"(Examples:
  l4 diagnose /logs/job-4711                    what happened to this job
  l4 diagnose job.tar.gz --history good-run     compared with a run that went well
  kubectl logs worker-3 | l4 diagnose -         one log, as it is at hand
  l4 inspect /logs/job-4711                     what is there, and how it is read
  dmesg | l4 faults match -                     which lines show a known fault
  l4 jobs                                       running jobs, where l4-aggregator watches

'l4 COMMAND --help' says more about a command.)";

/// Never two empty lines in a row.
std::string squeezed(std::string text) {
  for (std::size_t at = text.find("\n\n\n"); at != text.npos; at = text.find("\n\n\n", at))
    text.erase(at, 1);
  return text;
}

CommandLine wrong_use(const std::string& what, const std::string& command = {}) {
  const std::string program = command.empty() ? "l4" : "l4 " + command;
  std::cerr << fmt::format("{}: {}\nTry '{} --help'.\n", program, serve::harmless(what), program);
  CommandLine line;
  line.exit = terminal::kWrongUse;
  return line;
}

/// The names of the commands of an application, or of a command.
std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// CLI11's message for an unexpected word does not name the words that are expected.
std::string explain(const CLI::ParseError& error, const CLI::App& app, const CLI::App& command) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
  for (const std::string& word : app.remaining(true)) {
    const auto commands = names_of(command);
    if (!word.starts_with('-') && !commands.empty())
      return fmt::format("there is no command {}{}", word, terminal::did_you_mean(word, commands));
    if (!word.starts_with('-')) return "unexpected argument " + word;
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    return "unknown option " + word + terminal::did_you_mean(word.substr(0, word.find('=')), known);
  }
  return error.what();
}

/// The command that was given, with the words that name it; the program itself if none was.
std::pair<const CLI::App*, std::string> innermost(const CLI::App& app) {
  const CLI::App* used = &app;
  std::string name;
  while (!used->get_subcommands().empty()) {
    used = used->get_subcommands().front();
    name += (name.empty() ? "" : " ") + used->get_name();
  }
  return {used, name};
}

using RowOf = std::map<const CLI::App*, const terminal::Command*>;

void add_rows(CLI::App& app, const std::vector<terminal::Command>& table, RowOf& row_of) {
  for (const terminal::Command& row : table) {
    CLI::App* command = app.add_subcommand(row.name, row.about);
    command->footer(row.footer);
    row_of[command] = &row;
    if (row.add) {
      terminal::Options options(*command);
      row.add(options);
    }
    add_rows(*command, row.inner, row_of);
  }
}

/// The help and version options, and labels, of all commands.
void shape_help(CLI::App& app) {
  app.description(kAbout);
  app.name("l4");
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("--version", "l4 " L4_VERSION, "show the version");
  app.footer(kFooter);
  app.get_formatter()->column_width(24);
  app.get_formatter()->label("REQUIRED", "");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Subcommands", "Commands");
  app.get_formatter()->label("Positionals", "Arguments");
}

/// Adds all commands; returns the row of each.
RowOf fill_app(CLI::App& app, const std::vector<terminal::Command>& table) {
  shape_help(app);
  RowOf row_of;
  add_rows(app, table, row_of);
  return row_of;
}

}  // namespace

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
      command("jobs", "jobs that a running aggregator watches", kJobsFooter, add_jobs, run_jobs,
              asks),
      command("snapshot", "report of a running job as it stands now", kSnapshotFooter, add_snapshot,
              run_snapshot, check_snapshot),
      command("incidents", "failures of jobs, open and resolved", kIncidentsFooter, add_incidents,
              run_incidents, check_incidents),
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
      keys::keys_command(),
      command("check-config", "whether the programs could start with these", kCheckConfigFooter,
              add_check_config, run_check_config),
      command("completion", "a script that lets a shell complete l4", kCompletionFooter,
              add_completion, run_completion),
  };
}

void fill(CLI::App& app, const std::vector<terminal::Command>& table) {
  fill_app(app, table);
}

CommandLine read_command_line(int argc, const char* const* argv) {
  CLI::App app;
  const std::vector<terminal::Command> table = commands();
  const RowOf row_of = fill_app(app, table);
  const std::vector<std::string> names = names_of(app);
  if (argc < 2) return wrong_use(fmt::format("say what to do: {}", fmt::join(names, ", ")));
  const std::string first = argv[1];
  if (!first.starts_with('-') && std::ranges::find(names, first) == names.end())
    return wrong_use(
        fmt::format("there is no command {}{}", first, terminal::did_you_mean(first, names)));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << squeezed(app.help());
    return {};
  } catch (const CLI::Success& version) {
    return {.exit = app.exit(version)};
  } catch (const CLI::ParseError& error) {
    const auto [used, name] = innermost(app);
    return wrong_use(explain(error, app, *used), name);
  }
  const auto [used, name] = innermost(app);
  if (const auto inner = names_of(*used); !inner.empty())
    return wrong_use(fmt::format("say what to do: {}", fmt::join(inner, ", ")), name);
  const auto found = row_of.find(used);
  L4_CHECK(found != row_of.end(), "command {} has no row", name);
  const terminal::Command& row = *found->second;
  if (const auto checked = row.check(); !checked) return wrong_use(checked.error().text(), name);
  return {.run = row.run, .options = row.options};
}

}  // namespace l4::commands
