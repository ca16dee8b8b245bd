// Questions to a person at the terminal, each with a default that Enter takes.
//
// Questions go to standard error, so that standard output holds the result alone; answers come from
// standard input. An answer that is refused is asked for again. One thread.
#pragma once

#include <functional>
#include <string>

#include "common/base/error.h"

namespace l4::terminal {

/// Whether somebody can answer: standard input and standard error are a terminal.
bool can_ask();

/// The answer, or `fallback` for an empty one. `check` refuses it with a reason. Error: the input
/// has ended.
Result<std::string> ask(const std::string& question, const std::string& fallback,
                        const std::function<Result<void>(const std::string&)>& check);

}  // namespace l4::terminal
