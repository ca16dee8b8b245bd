// Options that commands have alike.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace l4::terminal {

/// -o text|json; the option already holds what is meant without it.
void add_format(CLI::App* command, std::string& format);

}  // namespace l4::terminal
