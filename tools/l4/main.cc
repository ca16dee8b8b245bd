// The `l4` command line: options in, exit code out. What a subcommand does stands in its own file.

#include <iostream>

#include "tools/l4/command_line.h"
#include "tools/l4/process.h"

int main(int argc, char** argv) {
  using namespace l4::cli;
  prepare_process();
  const CommandLine line = read_command_line(argc, argv);
  switch (line.command) {
    case CommandLine::Command::diagnose:
      return run_diagnose(line.diagnose);
    case CommandLine::Command::parse:
      return run_parse(line.parse, std::cerr);
    case CommandLine::Command::inspect:
      return run_inspect(line.inspect);
    case CommandLine::Command::faults:
      return run_faults(line.faults);
    case CommandLine::Command::keys:
      return run_keys(line.keys);
    case CommandLine::Command::pool:
      return run_pool(line.pool);
    case CommandLine::Command::live:
      return run_live(line.live);
    case CommandLine::Command::check_config:
      return run_check_config(line.check_config);
    case CommandLine::Command::done:
      break;
  }
  return line.exit;
}
