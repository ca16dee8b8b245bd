// The parser of command lines: a table of commands, and what was given.
//
// Flow: argv -> parse_command_line -> the row of the command, whose `run` the program calls. Help,
// the version and what is wrong are printed here. Also says what the table holds, for the scripts
// that let a shell complete it. CLI11 stays behind this header. Thread-safe, no state.
#pragma once

#include <any>
#include <functional>
#include <string>
#include <vector>

#include "tools/l4/terminal/command.h"
#include "tools/l4/terminal/exit.h"

namespace l4::terminal {

/// What the help says of the program itself.
struct Program {
  std::string name, version, about, footer;
};

struct CommandLine {
  /// The command to run; null: help, version or an error was printed already.
  std::function<int()> run = {};
  int exit = kDone;       ///< exit status if there is no command to run
  std::any options = {};  ///< the command's, as Command holds them
};

/// Each name of a command and of an option that is nearly right is answered with a suggestion.
CommandLine parse_command_line(const Program& program, const std::vector<Command>& table, int argc,
                               const char* const* argv);

struct OptionOutline {
  std::vector<std::string> short_names, long_names;  ///< without dashes; none: positional
  std::vector<std::string> words;  ///< one of these; empty where any value will do
  std::string about;
  bool has_value = false;
};

struct CommandOutline {
  std::string path;  ///< "faults list"; empty: the program itself
  std::string about;
  struct Inner {
    std::string name, about;
  };
  std::vector<Inner> inner;  ///< its own commands
  std::vector<OptionOutline> options;
};

/// The program, then each command before its own commands.
std::vector<CommandOutline> outline_of(const Program& program, const std::vector<Command>& table);

}  // namespace l4::terminal
