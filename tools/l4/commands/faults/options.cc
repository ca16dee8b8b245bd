#include "tools/l4/commands/faults/options.h"

#include <CLI/CLI.hpp>

#include "tools/l4/ask/ask_options.h"
#include "tools/l4/terminal/options.h"
#include "tools/l4/terminal/suggest.h"

namespace l4::commands::faults {
namespace {

constexpr auto kFaultsListFooter =
    R"(A row is a fault's family (the file it stands in), id, category, severity and title; JSON
has all that is known of each.

Examples:
  l4 faults list --family xid
  l4 faults list --category hardware/network --format json
  l4 faults list --confirmed --address http://head-node:7440

Exit status:
  0   here they are
  2   wrong use, no such family or category, or a fault library that cannot be loaded
  3   with --address or --confirmed: the aggregator did not answer

Environment: as for 'l4 jobs')";

constexpr auto kFaultsShowFooter =
    R"(Where no fault has this id, those that are near are named, also by words of their titles:
  l4 faults show 'Xid 79'
Those that engineers have confirmed are known to an aggregator alone: without --faults, one that is
not found is looked up there.

Exit status:
  0   here it is
  2   wrong use, no such fault, or a fault library that cannot be loaded
  3   with --address: the aggregator did not answer

Environment: as for 'l4 jobs')";

constexpr auto kFaultsMatchFooter =
    R"(Times, prefixes and wrapping are taken off and numbers masked, as 'l4 diagnose' does; a
traceback counts as one line, where it begins. A row is the line's number (behind its file if
there are several), the fault's id, its title and the message, with tabs between them; at the
end, how often each fault was seen.

Examples:
  l4 faults match rank0.log
  dmesg | l4 faults match -
  l4 faults match --line 'RuntimeError: CUDA error: out of memory' --all
  l4 faults match rank0.log --address http://head-node:7440     with those that were confirmed

Exit status:
  0   read, whether a fault was found or not
  2   wrong use, or a fault library that cannot be loaded
  3   nothing could be read, or with --address: the aggregator did not answer
  10  with --exit-code: a fault was found

Environment: as for 'l4 jobs')";

constexpr auto kFaultsTestFooter =
    R"(Every entry must answer first for its own lines and refuse its near misses, raw and as
masked templates; docs/FAULTS.md has the whole list. A row is file, line, entry, key, value
and what is wrong.

Exit status:
  0   nothing found
  1   findings
  2   wrong use, or a fault library that cannot be loaded: what keeps it is said)";

constexpr auto kFaultsConfirmFooter =
    R"(For the engineer who found out what an incident was: from then on the same line is answered
with this cause and fix, in every job. The pattern is distilled from the line that told of it:
numbers, paths and hosts may differ. It is refused, with the lines, if a healthy job prints what
it matches; then give a narrower one, in the notation of docs/FAULTS.md.

Examples:
  l4 faults confirm job-4711.0.1795363200 --dry-run \
     --cause 'The corpus was copied only in part.' --fix 'Copy it again, then restart.'
  l4 faults confirm job-4711.0.1795363200 --category hardware/storage --id corpus_cut_short \
     --cause '...' --fix '...' --pattern 'shard {n} of .* ends too early'

Exit status:
  0   confirmed, or with --dry-run: it would be
  1   refused: no line tells what happened, or healthy ones would be matched, too
  2   wrong use, no such incident, or an id that is taken
  3   the aggregator did not answer, or could not store it

Environment: as for 'l4 jobs')";

constexpr auto kFaultsDropFooter =
    R"(Only faults that were confirmed; those that ship stay. Jobs are diagnosed without it from
then on; reports that are stored stay as they are.

Exit status:
  0   withdrawn
  2   wrong use, or no confirmed fault of this id
  3   the aggregator did not answer, or could not remove it

Environment: as for 'l4 jobs')";

constexpr auto kFaultsExportFooter =
    R"(TOML is a file of a fault library: put it into a folder for 'l4 diagnose --faults', or beside
those of the shipped one. With --faults a folder is written, and no aggregator is asked.

Examples:
  l4 faults export --confirmed --out site/confirmed.toml
  l4 faults export --format json

Exit status:
  0   written
  2   wrong use, a library that cannot be loaded, or output that cannot be written
  3   the aggregator did not answer

Environment: as for 'l4 jobs')";

constexpr auto kFaultsFooter = R"('l4 faults COMMAND --help' says more about a command.)";

void add_confirm(CLI::App* faults, FaultsOptions& options) {
  auto* command = faults->add_subcommand("confirm", "what an incident was, for all to come");
  command->footer(kFaultsConfirmFooter);
  command->callback([&options] { options.action = FaultsOptions::Action::confirm; });
  const auto add = [&](const char* name, auto& value, const char* type, const char* what) {
    return command->add_option(name, value, what)->type_name(type);
  };
  add("INCIDENT", options.incident, "", "its id; see 'l4 incidents'")->required();
  add("--cause", options.cause, "TEXT", "what happened")->required();
  add("--fix", options.fix, "TEXT", "what repairs it")->required();
  add("--action", options.action_now, "TEXT", "what to do at once (default: the fix)");
  add("--category", options.category, "CATEGORY", "as hardware/network (default: guessed)");
  add("--title", options.title, "TEXT", "one line (default: the message)");
  add("--id", options.id, "ID", "of a-z, 0-9 and _ (default: from the title)");
  add("--template", options.template_id, "ID", "the event that tells of it");
  add("--pattern", options.patterns, "PATTERN", "instead of the distilled one; may be repeated")
      ->allow_extra_args(false);
  add("--example", options.example, "LINE", "a whole line, as it stands in a log");
  command->add_flag("--dry-run", options.dry_run, "show what would be, and store nothing");
  terminal::add_format(command, options.format);
  ask::add_asking(command, options);
}

void add_drop(CLI::App* faults, FaultsOptions& options) {
  auto* command = faults->add_subcommand("drop", "withdraw a confirmed fault");
  command->footer(kFaultsDropFooter);
  command->callback([&options] { options.action = FaultsOptions::Action::drop; });
  command->add_option("ID", options.id, "of the fault")->type_name("")->required();
  terminal::add_format(command, options.format);
  ask::add_asking(command, options);
}

void add_export(CLI::App* faults, FaultsOptions& options) {
  auto* command = faults->add_subcommand("export", "a running aggregator's faults, as a file");
  command->footer(kFaultsExportFooter);
  command->callback([&options] { options.action = FaultsOptions::Action::keep; });
  command->add_flag("--confirmed", options.confirmed, "only those that were confirmed");
  command->add_option("-o,--output,--format", options.format, "a library's form (default), or JSON")
      ->type_name("toml|json")
      ->check(terminal::one_of({"toml", "json"}));
  command->add_option("--out", options.out, "write it here and not to standard output")
      ->type_name("FILE");
  command->add_option("--faults", options.faults, "of this fault library")->type_name("DIR");
  ask::add_asking(command, options);
}

}  // namespace

void add_faults(CLI::App& app, FaultsOptions& options) {
  auto* faults =
      app.add_subcommand("faults", "known faults: list, show, match, test, confirm, drop, export");
  faults->footer(kFaultsFooter);
  const auto add = [&](const char* name, const char* what, const char* footer,
                       FaultsOptions::Action action) {
    auto* command = faults->add_subcommand(name, what);
    command->footer(footer);
    command->callback([&options, action] { options.action = action; });
    command->add_option("--faults", options.faults, "use this fault library")->type_name("DIR");
    command->add_option("--config", options.config, "settings; see config/diagnose.toml")
        ->type_name("FILE");
    terminal::add_format(command, options.format);
    if (action != FaultsOptions::Action::test) {
      ask::add_asking(command, options);
      command->get_option("--address")
          ->description("use the faults of this l4-aggregator, with those\nthat were confirmed");
    }
    return command;
  };
  using enum FaultsOptions::Action;
  auto* list_command = add("list", "what faults are known", kFaultsListFooter, list);
  list_command->add_option("--family", options.family, "only this family")->type_name("FAMILY");
  list_command->add_option("--category", options.category, "only CATEGORY or CATEGORY/SUBCATEGORY")
      ->type_name("CATEGORY");
  list_command->add_flag("--confirmed", options.confirmed,
                         "only those that were confirmed, as the aggregator knows them");
  auto* show_command = add("show", "all that is known of one fault", kFaultsShowFooter, show);
  show_command->add_option("ID", options.id, "of the fault")->type_name("")->required();
  auto* match_command = add("match", "which lines show a known fault", kFaultsMatchFooter, match);
  match_command->add_option("FILE", options.files, "a log, or - for standard input")->type_name("");
  match_command->add_option("--line", options.lines, "a line to ask for; may be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  match_command->add_flag("--all", options.all, "every fault of a line, not only the first");
  match_command->add_flag("--exit-code", options.exit_code, "end with 10 if a fault was found");
  auto* test_command = add("test", "check a fault library", kFaultsTestFooter, test);
  test_command->add_option("DIR", options.faults, "its folder (default: the one in use)")
      ->type_name("");
  add_confirm(faults, options);
  add_drop(faults, options);
  add_export(faults, options);
}

Result<void> check(const FaultsOptions& options) {
  if (options.action == FaultsOptions::Action::match && options.files.empty() &&
      options.lines.empty())
    return std::unexpected(Error{"", "say what to read: a FILE, - for standard input, or --line"});
  if (options.action != FaultsOptions::Action::keep && !options.address.empty() &&
      !options.faults.empty())
    return std::unexpected(Error{"--faults", "not with --address, which has faults of its own"});
  return ask::check_asking(options);
}

}  // namespace l4::commands::faults
