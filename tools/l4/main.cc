// The `l4` command line: options in, exit code out. What a subcommand does stands in its own file.

#include <iostream>

#include "tools/l4/commands/command_line.h"
#include "tools/l4/terminal/process.h"

int main(int argc, char** argv) {
  using namespace l4;
  terminal::prepare_process();
  const commands::CommandLine line = commands::read_command_line(argc, argv);
  switch (line.command) {
    case commands::CommandLine::Command::diagnose:
      return commands::run_diagnose(line.diagnose);
    case commands::CommandLine::Command::parse:
      return commands::run_parse(line.parse, std::cerr);
    case commands::CommandLine::Command::inspect:
      return commands::run_inspect(line.inspect);
    case commands::CommandLine::Command::faults:
      return commands::faults::run_faults(line.faults);
    case commands::CommandLine::Command::keys:
      return commands::keys::run_keys(line.keys);
    case commands::CommandLine::Command::pool:
      return commands::pool::run_pool(line.pool);
    case commands::CommandLine::Command::live:
      return commands::run_live(line.live);
    case commands::CommandLine::Command::check_config:
      return commands::run_check_config(line.check_config);
    case commands::CommandLine::Command::done:
      break;
  }
  return line.exit;
}
