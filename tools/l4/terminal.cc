#include "tools/l4/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

#include "tools/l4/diagnose_command.h"

namespace l4::cli {

std::size_t width_of_output() {
  constexpr std::size_t kElsewhere = 160;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kElsewhere;
  return size.ws_col;
}

int finish_output(const char* program) {
  std::cout << std::flush;
  if (std::cout) return kDone;
  std::cerr << program << ": standard output: cannot be written\n";
  return kWrongUse;
}

}  // namespace l4::cli
