// The options of `l4 faults` and its commands.
#pragma once

#include "common/base/error.h"
#include "tools/l4/commands/faults/command.h"

namespace CLI {
class App;
}

namespace l4::commands::faults {

/// `options` is filled when the command line is parsed and must live until then.
void add_faults(CLI::App& app, FaultsOptions& options);

/// What cannot be said to the parser: what is missing or does not go together.
Result<void> check(const FaultsOptions& options);

}  // namespace l4::commands::faults
