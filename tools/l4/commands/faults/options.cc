#include "tools/l4/commands/faults/command.h"
#include "tools/l4/terminal/command.h"

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

--state, --node and --rank say what was true, with or without a cause and a fix: 'l4 fit' fits to
such labels how sure reports are here. A false alarm is --state healthy.

Examples:
  l4 faults confirm job-4711.0.1795363200 --dry-run \
     --cause 'The corpus was copied only in part.' --fix 'Copy it again, then restart.'
  l4 faults confirm job-4711.0.1795363200 --category hardware/storage --id corpus_cut_short \
     --cause '...' --fix '...' --pattern 'shard {n} of .* ends too early'
  l4 faults confirm job-4711.0.1795363200 --state hung --node node-7

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

constexpr auto kAddressHelp =
    "use the faults of this l4-aggregator, with those\n"
    "that were confirmed";

using Action = FaultsOptions::Action;

/// The library, the form of the output, and for all but `test` the aggregator to ask.
void add_library(terminal::Options& to, FaultsOptions& options, Action action) {
  options.action = action;
  to.value("--faults", options.faults, "DIR", "use this fault library");
  to.value("--config", options.config, "FILE", "settings; see config/diagnose.toml");
  to.format(options.format);
  if (action != Action::test) ask::add_asking(to, options, kAddressHelp);
}

void add_list(terminal::Options& to, FaultsOptions& options) {
  add_library(to, options, Action::list);
  to.value("--family", options.family, "FAMILY", "only this family");
  to.value("--category", options.category, "CATEGORY", "only CATEGORY or CATEGORY/SUBCATEGORY");
  to.flag("--confirmed", options.confirmed,
          "only those that were confirmed, as the aggregator knows them");
}

void add_show(terminal::Options& to, FaultsOptions& options) {
  add_library(to, options, Action::show);
  to.value("ID", options.id, "", "of the fault").required();
}

void add_match(terminal::Options& to, FaultsOptions& options) {
  add_library(to, options, Action::match);
  to.value("FILE", options.files, "", "a log, or - for standard input");
  to.value("--line", options.lines, "TEXT", "a line to ask for; may be repeated").one_each_time();
  to.flag("--all", options.all, "every fault of a line, not only the first");
  to.flag("--exit-code", options.exit_code, "end with 10 if a fault was found");
}

void add_test(terminal::Options& to, FaultsOptions& options) {
  add_library(to, options, Action::test);
  to.value("DIR", options.faults, "", "its folder (default: the one in use)");
}

void add_confirm(terminal::Options& to, FaultsOptions& options) {
  options.action = Action::confirm;
  to.value("INCIDENT", options.incident, "", "its id; see 'l4 incidents'").required();
  to.value("--cause", options.cause, "TEXT", "what happened");
  to.value("--fix", options.fix, "TEXT", "what repairs it");
  to.value("--state", options.state, "STATE", "what the job's state was: crashed, hung, ...")
      .one_of({"healthy", "finished", "crashed", "hung", "slow", "node_lost", "launch_failed",
               "unknown"});
  to.value("--node", options.nodes, "NODE", "a node that was faulty; may be repeated")
      .one_each_time();
  to.value("--rank", options.rank, "RANK", "the rank that was faulty");
  to.value("--action", options.action_now, "TEXT", "what to do at once (default: the fix)");
  to.value("--category", options.category, "CATEGORY", "as hardware/network (default: guessed)");
  to.value("--title", options.title, "TEXT", "one line (default: the message)");
  to.value("--id", options.id, "ID", "of a-z, 0-9 and _ (default: from the title)");
  to.value("--template", options.template_id, "ID", "the event that tells of it");
  to.value("--pattern", options.patterns, "PATTERN",
           "instead of the distilled one; may be repeated")
      .one_each_time();
  to.value("--example", options.example, "LINE", "a whole line, as it stands in a log");
  to.flag("--dry-run", options.dry_run, "show what would be, and store nothing");
  to.format(options.format);
  ask::add_asking(to, options);
}

void add_drop(terminal::Options& to, FaultsOptions& options) {
  options.action = Action::drop;
  to.value("ID", options.id, "", "of the fault").required();
  to.format(options.format);
  ask::add_asking(to, options);
}

void add_export(terminal::Options& to, FaultsOptions& options) {
  options.action = Action::keep;
  to.flag("--confirmed", options.confirmed, "only those that were confirmed");
  to.value("-o,--output,--format", options.format, "toml|json",
           "a library's form (default), or JSON")
      .one_of({"toml", "json"});
  to.value("--out", options.out, "FILE", "write it here and not to standard output");
  to.value("--faults", options.faults, "DIR", "of this fault library");
  ask::add_asking(to, options);
}

/// A fault has a cause and a fix; without both, something must be said of the incident.
Result<void> check_confirm(const FaultsOptions& options) {
  if (options.cause.empty() != options.fix.empty())
    return std::unexpected(Error{options.cause.empty() ? "--cause" : "--fix",
                                 "is missing: a fault has both, a cause and a fix"});
  if (options.cause.empty() && !has_truth(options))
    return std::unexpected(
        Error{"",
              "say what happened: --cause and --fix, or what was true: --state, --node, "
              "--rank, --template"});
  if (options.cause.empty() && options.dry_run)
    return std::unexpected(Error{"--dry-run", "is for a fault: give --cause and --fix, too"});
  return ask::check_asking(options);
}

/// Checks what the parser cannot: missing options, and options that exclude each other.
Result<void> check(const FaultsOptions& options) {
  if (options.action == Action::match && options.files.empty() && options.lines.empty())
    return std::unexpected(Error{"", "say what to read: a FILE, - for standard input, or --line"});
  if (options.action != Action::keep && !options.address.empty() && !options.faults.empty())
    return std::unexpected(Error{"--faults", "not with --address, which has faults of its own"});
  if (options.action == Action::confirm) return check_confirm(options);
  return ask::check_asking(options);
}

terminal::Command row(const char* name, const char* about, const char* footer,
                      void (*add)(terminal::Options&, FaultsOptions&)) {
  return terminal::command(name, about, footer, add, run_faults, check);
}

}  // namespace

terminal::Command faults_command() {
  return terminal::command_group(
      "faults", "known faults: list, show, match, test, confirm, drop, export", kFaultsFooter,
      {row("list", "what faults are known", kFaultsListFooter, add_list),
       row("show", "all that is known of one fault", kFaultsShowFooter, add_show),
       row("match", "which lines show a known fault", kFaultsMatchFooter, add_match),
       row("test", "check a fault library", kFaultsTestFooter, add_test),
       row("confirm", "what an incident was, for all to come", kFaultsConfirmFooter, add_confirm),
       row("drop", "withdraw a confirmed fault", kFaultsDropFooter, add_drop),
       row("export", "a running aggregator's faults, as a file", kFaultsExportFooter, add_export)});
}

}  // namespace l4::commands::faults
