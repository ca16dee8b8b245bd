// The command line of `l4`: its options, its help, and what it says of wrong use.
//
// Place in the flow: argv -> CommandLine -> the subcommand's options. Checks everything that can be
// checked without reading a log, so that a long run does not end over a misspelt file name.
#pragma once

#include <string>

#include "common/base/error.h"
#include "tools/l4/check_config.h"
#include "tools/l4/diagnose_command.h"
#include "tools/l4/faults_command.h"
#include "tools/l4/inspect_command.h"
#include "tools/l4/keys_command.h"
#include "tools/l4/live_command.h"
#include "tools/l4/parse_command.h"
#include "tools/l4/pool_command.h"

namespace l4::cli {

struct CommandLine {
  /// `done`: help or version was printed, or the use was wrong and said so; end with `exit`.
  enum class Command { done, diagnose, parse, inspect, faults, keys, live, pool, check_config };

  Command command = Command::done;
  int exit = kDone;
  DiagnoseOptions diagnose;
  ParseOptions parse;
  InspectOptions inspect;
  FaultsOptions faults;
  KeysOptions keys;
  LiveOptions live;
  PoolOptions pool;
  CheckConfigOptions check_config;
};

CommandLine read_command_line(int argc, const char* const* argv);

}  // namespace l4::cli
