#include "tools/l4/faults_options.h"

#include <CLI/CLI.hpp>

namespace l4::cli {
namespace {

constexpr auto kListFooter =
    R"(A row is a fault's family (the file it stands in), id, category, severity and title; JSON
has all that is known of each.

Examples:
  l4 faults list --family xid
  l4 faults list --category hardware/network --format json)";

constexpr auto kShowFooter =
    R"(Where no fault has this id, those that are near are named, also by words of their titles:
  l4 faults show 'Xid 79')";

constexpr auto kMatchFooter =
    R"(Times, prefixes and wrapping are taken off and numbers masked, as 'l4 diagnose' does; a
traceback counts as one line, where it begins. A row is the line's number (behind its file if
there are several), the fault's id, its title and the message, with tabs between them; at the
end, how often each fault was seen.

Examples:
  l4 faults match rank0.log
  dmesg | l4 faults match -
  l4 faults match --line 'RuntimeError: CUDA error: out of memory' --all

Exit status:
  0   read, whether a fault was found or not
  2   wrong use, or a fault library that cannot be loaded
  3   nothing could be read
  10  with --exit-code: a fault was found)";

constexpr auto kTestFooter =
    R"(Every entry must answer first for its own lines and refuse its near misses, raw and as
masked templates; docs/FAULTS.md has the whole list. A row is file, line, entry, key, value
and what is wrong.

Exit status:
  0   nothing found
  1   findings
  2   wrong use, or a fault library that cannot be loaded: what keeps it is said)";

constexpr auto kFooter = R"('l4 faults COMMAND --help' says more about a command.)";

}  // namespace

void add_faults(CLI::App& app, FaultsOptions& options) {
  auto* faults = app.add_subcommand("faults", "known faults: list, show, match, test");
  faults->footer(kFooter);
  const auto add = [&](const char* name, const char* what, const char* footer,
                       FaultsOptions::Action action) {
    auto* command = faults->add_subcommand(name, what);
    command->footer(footer);
    command->callback([&options, action] { options.action = action; });
    command->add_option("--faults", options.faults, "use this fault library")->type_name("DIR");
    command->add_option("--config", options.config, "settings; see config/diagnose.toml")
        ->type_name("FILE");
    command->add_option("--format", options.format, "for people (default), or for programs")
        ->type_name("text|json")
        ->check(CLI::IsMember({"text", "json"}).description(""));
    return command;
  };
  using enum FaultsOptions::Action;
  auto* list_command = add("list", "what faults are known", kListFooter, list);
  list_command->add_option("--family", options.family, "only this family")->type_name("FAMILY");
  list_command->add_option("--category", options.category, "only CATEGORY or CATEGORY/SUBCATEGORY")
      ->type_name("CATEGORY");
  auto* show_command = add("show", "all that is known of one fault", kShowFooter, show);
  show_command->add_option("ID", options.id, "of the fault")->type_name("")->required();
  auto* match_command = add("match", "which lines show a known fault", kMatchFooter, match);
  match_command->add_option("FILE", options.files, "a log, or - for standard input")->type_name("");
  match_command->add_option("--line", options.lines, "a line to ask for; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  match_command->add_flag("--all", options.all, "every fault of a line, not only the first");
  match_command->add_flag("--exit-code", options.exit_code, "end with 10 if a fault was found");
  auto* test_command = add("test", "check a fault library", kTestFooter, test);
  test_command->add_option("DIR", options.faults, "its folder (default: the one in use)")
      ->type_name("");
}

Result<void> check(const FaultsOptions& options) {
  if (options.action == FaultsOptions::Action::match && options.files.empty() &&
      options.lines.empty())
    return std::unexpected(Error{"", "say what to read: a FILE, - for standard input, or --line"});
  return {};
}

}  // namespace l4::cli
