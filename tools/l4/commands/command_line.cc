#include "tools/l4/commands/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <vector>

#include "agent/discover/layout_pattern.h"
#include "aggregator/serve/utf8.h"
#include "tools/l4/commands/completion.h"
#include "tools/l4/commands/faults/options.h"
#include "tools/l4/commands/help_text.h"
#include "tools/l4/commands/zone.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/options.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/suggest.h"

namespace l4::commands {
namespace {

/// Options that stay words until all are known.
struct Words {
  std::string as_of, zone;
};

void add_diagnose(CLI::App& app, DiagnoseOptions& options, Words& words) {
  auto* command = app.add_subcommand("diagnose", "why did this job fail, and where did it begin");
  command->footer(kDiagnoseFooter);
  command->add_option("PATH", options.paths, "a folder, a file, a .tar.gz, or - for standard input")
      ->type_name("")
      ->required();
  const auto add = [&](const char* group, const char* name, auto& value, const char* type,
                       const char* what) {
    return command->add_option(name, value, what)->type_name(type)->group(group);
  };
  constexpr auto kInput = "Input", kMethod = "Method", kOutput = "Output";
  add(kInput, "--history", options.history, "PATH", kHistoryHelp)->allow_extra_args(false);
  add(kInput, "--layout", options.layout, "PATTERN", kLayoutHelp);
  add(kInput, "--as-of", words.as_of, "TIME", kAsOfHelp);
  add(kInput, "--tz", words.zone, "ZONE", kZoneHelp);
  add(kMethod, "--config", options.config, "FILE", "settings; see config/diagnose.toml");
  add(kMethod, "--faults", options.faults, "DIR", "use this fault library");
  command->add_flag("--no-faults", options.no_faults, "use no fault library")->group(kMethod);
  add(kMethod, "--scoring", options.scoring, "l4|paper", kScoringHelp)
      ->check(terminal::one_of({"l4", "paper"}));
  add(kMethod, "--threads", options.threads, "N", kThreadsHelp)
      ->check(CLI::Range(1u, 4096u).description(""));
  add(kOutput, "-o,--output,--format", options.format, "text|json",
      "for people (default), or for programs")
      ->check(terminal::one_of({"text", "json"}));
  add(kOutput, "--out", options.out, "FILE", "write the report here and not to standard output");
  add(kOutput, "--lines", options.lines, "FILE", kLinesHelp);
  add(kOutput, "--top", options.top, "N", "rows of each list in the text report (default: 8)")
      ->check(CLI::Range(1u, 1'000'000u).description(""));
  command->add_flag("--exit-code", options.exit_code, "end with 10 if a failure was found")
      ->group(kOutput);
}

void add_parse(CLI::App& app, ParseOptions& options) {
  auto* command = app.add_subcommand("parse", "which template each line has");
  command->footer(kParseFooter);
  command->add_option("FILE", options.files, "files of messages, one a line")
      ->type_name("")
      ->required();
  command->add_option("--out", options.out, "write the rows here and not to standard output")
      ->type_name("FILE");
  command->add_option("--templates", options.templates, "write id, count and text of each template")
      ->type_name("FILE");
  terminal::add_format(command, options.format);
}

void add_inspect(CLI::App& app, InspectOptions& options) {
  auto* command = app.add_subcommand("inspect", "how logs are read: sources, ranks, times");
  command->footer(kInspectFooter);
  command->add_option("PATH", options.paths, "a folder, a file, a .tar.gz, or - for standard input")
      ->type_name("")
      ->required();
  command->add_option("--layout", options.layout, kLayoutHelp)->type_name("PATTERN");
  command->add_option("--config", options.config, "settings; see config/diagnose.toml")
      ->type_name("FILE");
  terminal::add_format(command, options.format);
}

void add_check_config(CLI::App& app, CheckConfigOptions& options) {
  auto* command = app.add_subcommand("check-config", "whether the programs could start with these");
  command->footer(kCheckConfigFooter);
  command->add_option("FILE", options.files, "configs of l4-agent, l4-aggregator or l4")
      ->type_name("")
      ->required();
  command->add_option("--as", options.as, "whose they are (default: as their tables tell)")
      ->type_name("agent|aggregator|diagnose|client")
      ->check(terminal::one_of({"agent", "aggregator", "diagnose", "client"}));
  terminal::add_format(command, options.format);
}

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

/// Of the commands that an application, or a command, has.
std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// CLI11's own words for what was not expected do not say what would have been.
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

/// A file that is to be written: its folder must be there.
Result<void> check_writable(const char* option, const std::filesystem::path& file) {
  if (file.empty()) return {};
  std::error_code ignored;
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, ignored))
    return std::unexpected(Error{fmt::format("{}: {}", option, file.string()),
                                 "there is no folder " + folder.string()});
  const bool there = std::filesystem::exists(file, ignored);
  if (std::filesystem::is_directory(file, ignored) ||
      ::access(there ? file.c_str() : folder.c_str(), W_OK) != 0)
    return std::unexpected(
        Error{fmt::format("{}: {}", option, file.string()), "cannot be written"});
  return {};
}

Result<void> check_layout(const std::string& layout) {
  if (layout.empty()) return {};
  if (const auto pattern = discover::LayoutPattern::compile(layout); !pattern)
    return std::unexpected(pattern.error());
  return {};
}

Result<void> complete(DiagnoseOptions& options, const Words& words) {
  if (!words.as_of.empty()) {
    options.as_of = parse_time(words.as_of);
    if (!options.as_of)
      return std::unexpected(Error{"--as-of: " + words.as_of,
                                   "no time; write 2026-11-20T15:54:42Z or seconds since 1970"});
  }
  if (!words.zone.empty()) {
    const auto zone = parse_zone(words.zone);
    if (!zone) return std::unexpected(Error{"--tz: " + zone.error().where, zone.error().reason});
    options.zone = *zone;
  }
  if (auto out = check_writable("--out", options.out); !out) return out;
  if (auto lines = check_writable("--lines", options.lines); !lines) return lines;
  return check_layout(options.layout);
}

/// What all commands show alike.
void shape_help(CLI::App& app) {
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("--version", "l4 " L4_VERSION, "show the version");
  app.footer(kFooter);
  app.get_formatter()->column_width(24);
  app.get_formatter()->label("REQUIRED", "");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Subcommands", "Commands");
  app.get_formatter()->label("Positionals", "Arguments");
}

}  // namespace

CommandLine read_command_line(int argc, const char* const* argv) {
  CLI::App app(kAbout, "l4");
  shape_help(app);
  CommandLine line;
  Words words;
  add_diagnose(app, line.diagnose, words);
  add_parse(app, line.parse);
  add_inspect(app, line.inspect);
  faults::add_faults(app, line.faults);
  add_live(app, line.live);
  pool::add_pool(app, line.pool);
  keys::add_keys(app, line.keys);
  add_check_config(app, line.check_config);
  CompletionOptions completion;
  add_completion(app, completion);
  const std::vector<std::string> commands = names_of(app);
  if (argc < 2) return wrong_use(fmt::format("say what to do: {}", fmt::join(commands, ", ")));
  const std::string first = argv[1];
  if (!first.starts_with('-') && std::ranges::find(commands, first) == commands.end())
    return wrong_use(
        fmt::format("there is no command {}{}", first, terminal::did_you_mean(first, commands)));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << squeezed(app.help());
    return line;
  } catch (const CLI::Success& version) {
    line.exit = app.exit(version);
    return line;
  } catch (const CLI::ParseError& error) {
    const auto [used, name] = innermost(app);
    return wrong_use(explain(error, app, *used), name);
  }
  const auto [used, name] = innermost(app);
  if (const auto inner = names_of(*used); !inner.empty())
    return wrong_use(fmt::format("say what to do: {}", fmt::join(inner, ", ")), name);
  using enum CommandLine::Command;
  Result<void> checked;
  if (app.got_subcommand("completion")) {
    std::cout << completion_script(app, completion.shell);
    line.exit = terminal::finish_output("l4 completion");
  } else if (app.got_subcommand("check-config")) {
    line.command = check_config;
  } else if (app.got_subcommand("parse")) {
    line.command = parse;
  } else if (app.got_subcommand("inspect")) {
    line.command = inspect;
    checked = check_layout(line.inspect.layout);
  } else if (app.got_subcommand("diagnose")) {
    line.command = diagnose;
    checked = complete(line.diagnose, words);
  } else if (app.got_subcommand("keys")) {
    line.command = keys;
    checked = check(line.keys);
  } else if (app.got_subcommand("faults")) {
    line.command = faults;
    checked = check(line.faults);
  } else if (app.got_subcommand("pool") || app.got_subcommand("outcome")) {
    line.command = pool;
    checked = check(line.pool);
    if (checked) checked = check_writable("--out", line.pool.out);
  } else {
    line.command = live;
    checked = check(line.live);
    if (checked) checked = check_writable("--out", line.live.out);
  }
  if (!checked) return wrong_use(checked.error().text(), name);
  return line;
}

}  // namespace l4::commands
