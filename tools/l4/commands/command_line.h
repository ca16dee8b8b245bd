// The command line of `l4`: the table of its commands.
//
// Flow: argv -> read_command_line -> the row of the command -> its work. Checks everything that can
// be checked without reading a log, so that a long run does not end over a misspelt file name.
#pragma once

#include <vector>

#include "tools/l4/terminal/command.h"
#include "tools/l4/terminal/parser.h"

namespace l4::commands {

using terminal::CommandLine;

/// `l4` itself, as its help shows it.
const terminal::Program& program();

/// Every command of `l4`, in the order of its help. A new command is a file and a row.
std::vector<terminal::Command> commands();

CommandLine read_command_line(int argc, const char* const* argv);

}  // namespace l4::commands
