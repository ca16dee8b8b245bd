#include "tools/l4/terminal/options.h"

#include <CLI/CLI.hpp>

#include "tools/l4/terminal/suggest.h"

namespace l4::terminal {

void add_format(CLI::App* command, std::string& format) {
  command->add_option("-o,--output,--format", format, "for people (default), or programs")
      ->type_name("text|json")
      ->check(one_of({"text", "json"}));
}

}  // namespace l4::terminal
