// The `l4` command line: options in, exit code out. Each command has its own file.
#include "tools/l4/commands/command_line.h"
#include "tools/l4/terminal/process.h"

int main(int argc, char** argv) {
  l4::terminal::prepare_process();
  const auto line = l4::commands::read_command_line(argc, argv);
  return line.run ? line.run() : line.exit;
}
