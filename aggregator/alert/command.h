// Runs one command with an alert on its standard input, for a limited time.
// Blocking, on the thread of the caller. The command inherits neither descriptors nor a signal
// mask; its environment is PATH alone. It leads a process group, which is killed as a whole when
// the time is over or a stop is requested. Its output is discarded.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::alert {

/// An Error unless the command exits with 0 in time.
Result<void> run_command(const std::vector<std::string>& command, std::string_view input,
                         Millis timeout, const std::stop_token& stop);

}  // namespace l4::alert
