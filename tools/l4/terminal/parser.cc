#include "tools/l4/terminal/parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <utility>

#include "aggregator/serve/utf8.h"
#include "common/base/check.h"
#include "tools/l4/terminal/suggest.h"

namespace l4::terminal {
namespace {

/// Removes empty lines that follow an empty line.
std::string squeezed(std::string text) {
  for (std::size_t at = text.find("\n\n\n"); at != text.npos; at = text.find("\n\n\n", at))
    text.erase(at, 1);
  return text;
}

CommandLine wrong_use(const Program& program, const std::string& what,
                      const std::string& command = {}) {
  const std::string name = command.empty() ? program.name : program.name + " " + command;
  std::cerr << fmt::format("{}: {}\nTry '{} --help'.\n", name, serve::harmless(what), name);
  CommandLine line;
  line.exit = kWrongUse;
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
      return fmt::format("there is no command {}{}", word, did_you_mean(word, commands));
    if (!word.starts_with('-')) return "unexpected argument " + word;
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    return "unknown option " + word + did_you_mean(word.substr(0, word.find('=')), known);
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

using RowOf = std::map<const CLI::App*, const Command*>;

void add_rows(CLI::App& app, const std::vector<Command>& table, RowOf& row_of) {
  for (const Command& row : table) {
    CLI::App* command = app.add_subcommand(row.name, row.about);
    command->footer(row.footer);
    row_of[command] = &row;
    if (row.add) {
      Options options(*command);
      row.add(options);
    }
    add_rows(*command, row.inner, row_of);
  }
}

/// The help and version options, and labels, of all commands.
void shape_help(CLI::App& app, const Program& program) {
  app.description(program.about);
  app.name(program.name);
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("--version", program.version, "show the version");
  app.footer(program.footer);
  app.get_formatter()->column_width(24);
  app.get_formatter()->label("REQUIRED", "");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Subcommands", "Commands");
  app.get_formatter()->label("Positionals", "Arguments");
}

/// Adds all commands; returns the row of each.
RowOf fill_app(CLI::App& app, const Program& program, const std::vector<Command>& table) {
  shape_help(app, program);
  RowOf row_of;
  add_rows(app, table, row_of);
  return row_of;
}

OptionOutline outline_of(const CLI::Option& option) {
  OptionOutline outline{option.get_snames(), option.get_lnames(), {}, option.get_description()};
  const std::string type = option.get_type_name();
  const bool names_kinds = std::ranges::none_of(type, [](char c) { return c >= 'a' && c <= 'z'; });
  if (!names_kinds && type.find('|') != std::string::npos)
    outline.words = CLI::detail::split(type, '|');
  outline.has_value = option.get_items_expected_max() > 0;
  return outline;
}

void add_outlines(const CLI::App& app, const std::string& path, std::vector<CommandOutline>& to) {
  CommandOutline& outline = to.emplace_back(CommandOutline{path, app.get_description(), {}, {}});
  for (const CLI::Option* option : app.get_options())
    outline.options.push_back(outline_of(*option));
  for (const CLI::App* inner : app.get_subcommands({}))
    outline.inner.push_back({inner->get_name(), inner->get_description()});
  for (const CLI::App* inner : app.get_subcommands({}))
    add_outlines(*inner, path.empty() ? inner->get_name() : path + " " + inner->get_name(), to);
}

}  // namespace

CommandLine parse_command_line(const Program& program, const std::vector<Command>& table, int argc,
                               const char* const* argv) {
  CLI::App app;
  const RowOf row_of = fill_app(app, program, table);
  const std::vector<std::string> names = names_of(app);
  if (argc < 2)
    return wrong_use(program, fmt::format("say what to do: {}", fmt::join(names, ", ")));
  const std::string first = argv[1];
  if (!first.starts_with('-') && std::ranges::find(names, first) == names.end())
    return wrong_use(program,
                     fmt::format("there is no command {}{}", first, did_you_mean(first, names)));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << squeezed(app.help());
    return {};
  } catch (const CLI::Success& version) {
    return {.exit = app.exit(version)};
  } catch (const CLI::ParseError& error) {
    const auto [used, name] = innermost(app);
    return wrong_use(program, explain(error, app, *used), name);
  }
  const auto [used, name] = innermost(app);
  if (const auto inner = names_of(*used); !inner.empty())
    return wrong_use(program, fmt::format("say what to do: {}", fmt::join(inner, ", ")), name);
  const auto found = row_of.find(used);
  L4_CHECK(found != row_of.end(), "command {} has no row", name);
  const Command& row = *found->second;
  if (const auto checked = row.check(); !checked)
    return wrong_use(program, checked.error().text(), name);
  return {.run = row.run, .options = row.options};
}

std::vector<CommandOutline> outline_of(const Program& program, const std::vector<Command>& table) {
  CLI::App app;
  fill_app(app, program, table);
  std::vector<CommandOutline> outlines;
  add_outlines(app, "", outlines);
  return outlines;
}

}  // namespace l4::terminal
