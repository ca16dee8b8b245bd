// `l4 faults`: the fault library, to read (list, show), to try on lines (match) and to check
// (test); and that of a running aggregator: to add to (confirm, drop) and to keep (export).
//
// Flow: command line -> run_faults -> one function per command, each in a file of its name;
// confirm, drop and export stand together. The library is the one that `l4 diagnose` would use;
// list, show and match may ask a running aggregator for its own (faults_asked.h). JSON: schemas
// l4.faults/1 (list and show), l4.fault_matches/1, l4.fault_findings/1; else what was answered.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "aggregator/faults/library.h"
#include "offline/settings.h"
#include "tools/l4/ask/ask_options.h"
#include "tools/l4/terminal/command.h"

namespace l4::commands::faults {

struct FaultsOptions : ask::AskOptions {
  enum class Action { list, show, match, test, confirm, drop, keep };

  Action action = Action::list;
  std::filesystem::path config;  ///< TOML; empty: defaults
  std::filesystem::path faults;  ///< folder; empty: the shipped library
  std::string format = "text";
  std::string family, category;              ///< list: only these; CATEGORY or CATEGORY/SUBCATEGORY
  std::string id;                            ///< show
  std::vector<std::filesystem::path> files;  ///< match; - is standard input
  std::vector<std::string> lines;            ///< match: as if they stood in a file
  bool all = false;                          ///< match: every fault of a line, not only the first
  bool exit_code = false;                    ///< match: end with 10 if a fault was found

  // confirm, drop and export (keep)
  std::string incident, cause, fix, title, action_now, template_id, example;
  std::vector<std::string> patterns;
  std::string state, rank;         ///< confirm: what was true, for `l4 fit`
  std::vector<std::string> nodes;  ///< the same
  bool dry_run = false;
  bool confirmed = false;     ///< export, list: only those
  std::filesystem::path out;  ///< export: empty: standard output
};

/// Whether the options say what was true of an incident.
inline bool has_truth(const FaultsOptions& options) {
  const bool of_event = options.cause.empty() && !options.template_id.empty();
  return !options.state.empty() || !options.nodes.empty() || !options.rank.empty() || of_event;
}

/// The row of `l4 faults`, with the rows of its commands.
terminal::Command faults_command();

/// Exit status: 0 done; 1 findings (test), or refused because the pattern is too wide (confirm); 2
/// wrong use, or an invalid library; 3 nothing could be read (match), or the aggregator did not
/// answer; 10 a fault was found (match with `exit_code`).
int run_faults(const FaultsOptions& options);

int confirm_fault(const FaultsOptions& options);
int drop_fault(const FaultsOptions& options);
int export_faults(const FaultsOptions& options);
int list_faults(const FaultsOptions& options, const l4::faults::Library& library);
/// `from`: the aggregator whose library it is; empty: files.
int show_fault(const FaultsOptions& options, const l4::faults::Library& library,
               const std::string& from);
int match_faults(const FaultsOptions& options, const offline::Settings& settings,
                 const l4::faults::Library& library);
int test_faults(const FaultsOptions& options, const offline::Settings& settings,
                const l4::faults::Library& library);

}  // namespace l4::commands::faults
