// The command line of `l4`: its options, its help, and what it says of wrong use.
//
// Place in the flow: argv -> CommandLine -> the subcommand's options. Checks everything that can be
// checked without reading a log, so that a long run does not end over a misspelt file name.
#pragma once

#include <string>

#include "common/base/error.h"
#include "tools/l4/commands/check_config.h"
#include "tools/l4/commands/diagnose.h"
#include "tools/l4/commands/faults/command.h"
#include "tools/l4/commands/inspect.h"
#include "tools/l4/commands/keys/command.h"
#include "tools/l4/commands/live.h"
#include "tools/l4/commands/parse.h"
#include "tools/l4/commands/pool/command.h"
#include "tools/l4/terminal/exit.h"

namespace l4::commands {

struct CommandLine {
  /// `done`: help or version was printed, or the use was wrong and said so; end with `exit`.
  enum class Command { done, diagnose, parse, inspect, faults, keys, live, pool, check_config };

  Command command = Command::done;
  int exit = terminal::kDone;
  DiagnoseOptions diagnose;
  ParseOptions parse;
  InspectOptions inspect;
  faults::FaultsOptions faults;
  keys::KeysOptions keys;
  LiveOptions live;
  pool::PoolOptions pool;
  CheckConfigOptions check_config;
};

CommandLine read_command_line(int argc, const char* const* argv);

}  // namespace l4::commands
