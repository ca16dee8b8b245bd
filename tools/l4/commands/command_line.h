// The command line of `l4`: the table of commands, its help, and what it says of wrong use.
//
// Flow: argv -> read_command_line -> the row of the command -> its work. Checks everything that can
// be checked without reading a log, so that a long run does not end over a misspelt file name.
#pragma once

#include <functional>
#include <vector>

#include "tools/l4/terminal/command.h"
#include "tools/l4/terminal/exit.h"

namespace CLI {
class App;
}

namespace l4::commands {

/// Every command of `l4`, in the order of its help. A new command is a file and a row.
std::vector<terminal::Command> commands();

/// Adds the commands with their options, and what all of them show alike. `table` must outlive
/// `app`.
void fill(CLI::App& app, const std::vector<terminal::Command>& table);

struct CommandLine {
  /// The command to run; null: help, version or an error was printed already.
  std::function<int()> run = {};
  int exit = terminal::kDone;  ///< exit status if there is no command to run
  std::any options = {};       ///< of the command, as terminal::Command holds them
};

CommandLine read_command_line(int argc, const char* const* argv);

}  // namespace l4::commands
