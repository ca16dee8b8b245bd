// The `l4` command line: options in, exit code out. What a subcommand does stands in its own file.

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "tools/l4/diagnose_command.h"
#include "tools/l4/inspect_command.h"
#include "tools/l4/parse_command.h"
#include "tools/l4/zone.h"

namespace {

using namespace l4;

struct DiagnoseWords {
  std::string as_of, zone;
};

void add_diagnose(CLI::App& app, cli::DiagnoseOptions& options, DiagnoseWords& words) {
  auto* command = app.add_subcommand("diagnose", "say what happened to a job, from its logs");
  command->add_option("PATH", options.paths, "folder, file, .tar.gz or - (standard input)")->required();
  command->add_option("--history", options.history, "a healthy run of the same kind of job; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--format", options.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->add_option("--out", options.out, "write the report here");
  command->add_option("--lines", options.lines, "write the lines of every indicating event here");
  command->add_option("--layout", options.layout, "path pattern with {node} {rank} {local_rank} {attempt} {job} {*}");
  command->add_option("--as-of", words.as_of, "when you look: RFC 3339 or seconds since the epoch");
  command->add_option("--tz", words.zone, "zone of times without one: +02:00, Europe/Berlin, UTC");
  command->add_option("--config", options.config, "settings (TOML)");
  command->add_option("--faults", options.faults, "folder of the fault library");
  command->add_flag("--no-faults", options.no_faults, "do not use the fault library");
  command->add_option("--scoring", options.scoring, "l4, or paper for the published method")
      ->check(CLI::IsMember({"l4", "paper"}));
  command->add_option("--top", options.top, "rows of each list in the text report");
  command->add_option("--threads", options.threads, "worker threads (default: all cores)");
  command->add_flag("--exit-code", options.exit_code, "exit with 10 if a failure is found");
}

void add_parse(CLI::App& app, cli::ParseOptions& options) {
  auto* command = app.add_subcommand("parse", "give every line the id of its template");
  command->add_option("FILE", options.files)->required();
  command->add_option("--out", options.out, "write the rows here");
  command->add_option("--templates", options.templates, "write id, count and text of every template here");
}

void add_inspect(CLI::App& app, cli::InspectOptions& options) {
  auto* command = app.add_subcommand("inspect", "show how l4 reads a folder");
  command->add_option("PATH", options.paths)->required();
  command->add_option("--layout", options.layout);
}

int wrong_use(const std::string& what) {
  std::cerr << "l4: " << what << '\n';
  return cli::kWrongUse;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Why did a training job crash, hang or slow down, and which node did it?", "l4");
  app.set_version_flag("--version", std::string(L4_VERSION));
  app.require_subcommand(1);
  cli::DiagnoseOptions diagnose;
  DiagnoseWords words;
  cli::ParseOptions parse;
  cli::InspectOptions inspect;
  add_diagnose(app, diagnose, words);
  add_parse(app, parse);
  add_inspect(app, inspect);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::kDone : cli::kWrongUse;
  }
  if (app.got_subcommand("parse")) return cli::run_parse(parse, std::cerr);
  if (app.got_subcommand("inspect")) return cli::run_inspect(inspect);
  if (!words.as_of.empty()) {
    diagnose.as_of = parse_time(words.as_of);
    if (!diagnose.as_of) return wrong_use("--as-of: not a time: " + words.as_of);
  }
  if (!words.zone.empty()) {
    const auto zone = cli::parse_zone(words.zone);
    if (!zone) return wrong_use("--tz: " + zone.error().text());
    diagnose.zone = *zone;
  }
  return cli::run_diagnose(diagnose);
}
