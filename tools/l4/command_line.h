// The command line of `l4`: its options, its help, and what it says of wrong use.
//
// Place in the flow: argv -> CommandLine -> the subcommand's options. Checks everything that can be
// checked without reading a log, so that a long run does not end over a misspelt file name.
#pragma once

#include <string>

#include "common/base/error.h"
#include "tools/l4/diagnose_command.h"
#include "tools/l4/inspect_command.h"
#include "tools/l4/parse_command.h"

namespace l4::cli {

struct CommandLine {
  /// `done`: help or version was printed, or the use was wrong and said so; end with `exit`.
  enum class Command { done, diagnose, parse, inspect };

  Command command = Command::done;
  int exit = kDone;
  DiagnoseOptions diagnose;
  ParseOptions parse;
  InspectOptions inspect;
};

CommandLine read_command_line(int argc, const char* const* argv);

/// The word of `words` that `typo` was probably meant to be; empty if none is near.
std::string nearest_word(const std::string& typo, const std::vector<std::string>& words);

}  // namespace l4::cli
