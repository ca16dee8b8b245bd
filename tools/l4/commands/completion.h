// `l4 completion SHELL`: what a shell needs to complete the command line of `l4`.
//
// Flow: the commands and options as the parser knows them -> a script on standard output, which the
// shell reads. Made from the same tables as --help, so that it cannot fall behind. Values are
// offered where an option names them (`text|json`), files everywhere else. Thread-safe, no state.
#pragma once

#include <string>

#include "tools/l4/terminal/options.h"

namespace l4::commands {

struct CompletionOptions {
  std::string shell;  ///< bash, zsh or fish
};

extern const char* const kCompletionFooter;
void add_completion(terminal::Options& to, CompletionOptions& options);
/// Exit status: 0 done; 2 output that cannot be written.
int run_completion(const CompletionOptions& options);

}  // namespace l4::commands
