// Running one command with an alert on its standard input, no longer than agreed.
//
// Blocking, on the thread of the caller. The command gets nothing of ours: no descriptors, no
// signals' masks, and PATH alone as its environment. It is the leader of a process group, which is
// killed as a whole when its time is over or `stop` is asked for. What it prints goes nowhere.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::alert {

/// An Error unless it ends with 0 in time.
Result<void> run_command(const std::vector<std::string>& command, std::string_view input,
                         Millis timeout, const std::stop_token& stop);

}  // namespace l4::alert
