// A command of `l4` as a row: its name, what its help says, its options and its work.
//
// Flow: a table of rows (commands/command_line.cc) -> the parser calls `add` -> `check` -> `run`.
// Each row owns the options of its command, of a type that only the command knows.
#pragma once

#include <any>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "tools/l4/terminal/options.h"

namespace l4::terminal {

struct Command {
  std::string name, about, footer;
  std::function<void(Options&)> add;
  /// Refuses what does not go together, or what is missing; may complete the options.
  std::function<Result<void>()> check;
  /// The exit status of the program.
  std::function<int()> run;
  std::vector<Command> inner = {};  ///< commands of this command; `add` and `run` are empty then
  std::any options = {};            ///< a shared_ptr to what `add` fills and `run` reads
};

/// The row of a command with options of type T.
template <class T>
Command command(std::string name, std::string about, std::string footer, void (*add)(Options&, T&),
                int (*run)(const T&),
                std::type_identity_t<std::function<Result<void>(T&)>> check = {}) {
  auto options = std::make_shared<T>();
  Command row{std::move(name), std::move(about), std::move(footer), {}, {}, {}, {}, options};
  row.add = [add, options](Options& to) { add(to, *options); };
  row.check = [check = std::move(check), options] {
    return check ? check(*options) : Result<void>();
  };
  row.run = [run, options] { return run(*options); };
  return row;
}

/// The row of a command that has commands of its own.
inline Command command_group(std::string name, std::string about, std::string footer,
                             std::vector<Command> inner) {
  return {std::move(name), std::move(about), std::move(footer), {}, {}, {}, std::move(inner), {}};
}

}  // namespace l4::terminal
