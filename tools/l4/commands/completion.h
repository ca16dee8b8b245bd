// `l4 completion SHELL`: what a shell needs to complete the command line of `l4`.
//
// Flow: the options as CLI11 knows them -> a script on standard output, which the shell reads. Made
// from the same tables as --help, so that it cannot fall behind. Values are offered where an option
// names them (`text|json`), files everywhere else. Thread-safe, no state.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace l4::commands {

struct CompletionOptions {
  std::string shell;  ///< bash, zsh or fish
};

void add_completion(CLI::App& app, CompletionOptions& options);

/// The script; `app` has all commands.
std::string completion_script(const CLI::App& app, std::string_view shell);

}  // namespace l4::commands
