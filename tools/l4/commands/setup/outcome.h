// What `l4 setup` writes, and how it shows what it found.
//
// Flow: text of the settings -> write_settings: the program's own reader must accept it -> the
// file; remarks and next commands -> show. A file that is there is never lost. No state.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "tools/l4/commands/setup/command.h"
#include "tools/l4/commands/setup/unit.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"
#include "tools/l4/terminal/remarks.h"

namespace l4::commands::setup {

struct Outcome {
  std::string settings;
  std::filesystem::path file, before;  ///< before: where the former file is; empty: there was none
  bool written = false;
  std::vector<terminal::Remark> remarks;
  std::vector<std::string> next;  ///< commands
};

/// Error: what keeps the file from being written, said before anything is asked.
Result<void> check_target(const CommonOptions& options);

/// Error: no terminal to ask at, and options that are missing. `options`: name, and whether it was
/// given.
Result<void> check_answers(const std::vector<std::pair<std::string_view, bool>>& options);

/// The option if it was given, else the answer at the terminal; `check` must accept it.
Result<std::string> given_or_asked(const std::string& given, const std::string& question,
                                   const std::string& fallback,
                                   const std::function<Result<void>(const std::string&)>& check);

using Reader = std::function<Result<void>(const std::filesystem::path& file)>;

/// Has `read` look at the settings, and writes the file unless they are only to be shown.
Result<void> write_settings(const CommonOptions& options, const Reader& read, Outcome& outcome);

/// A text as a TOML string, and a list of them.
std::string toml_text(std::string_view text);
std::string toml_list(const std::vector<std::string>& texts);

/// An absolute path without dots.
std::filesystem::path whole(const std::filesystem::path& path);

/// Whether the program may write its state there. `user`: whose rights hold.
terminal::Remark check_state(const Unit& unit, const std::filesystem::path& folder,
                             const std::string& user);

/// The command that starts the program with this file.
std::string start_command(const Unit& unit, const std::filesystem::path& file);

/// Ends the command: a page for people, or JSON.
int show(const Outcome& outcome, const CommonOptions& options, std::string_view program);

/// The steps of setting up one program; `Answers` is what is asked for it.
template <class Options, class Answers>
struct Steps {
  Result<Answers> (*ask)(const Options&);
  std::string (*settings_of)(const Answers&, const std::filesystem::path& file);
  /// Adds what was found on this machine, and the next commands.
  void (*look_around)(const Answers&, const std::filesystem::path& file, Outcome&);
  Reader read;
};

/// The exit status; `program`: for messages.
template <class Options, class Answers>
int run_steps(const Options& options, std::string_view program,
              const Steps<Options, Answers>& steps) {
  const auto refuse = [&](const Error& error) {
    return terminal::fail(error, terminal::kWrongUse, program);
  };
  if (const auto free = check_target(options); !free) return refuse(free.error());
  const auto answers = steps.ask(options);
  if (!answers) return refuse(answers.error());
  const std::filesystem::path file = whole(options.out);
  Outcome outcome;
  outcome.settings = steps.settings_of(*answers, file);
  steps.look_around(*answers, file, outcome);
  if (const auto done = write_settings(options, steps.read, outcome); !done)
    return refuse(done.error());
  return show(outcome, options, program);
}

}  // namespace l4::commands::setup
