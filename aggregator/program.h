// l4-aggregator from its settings to its end: parts are made, signals are answered.
// Flow: main reads the options and calls run(); everything runs on threads of its own until SIGTERM
// or SIGINT, then all that was taken is saved, in less than 5 s. SIGHUP reads the config again. If
// systemd asks for it (NOTIFY_SOCKET, WATCHDOG_USEC), it is notified of READY, RELOADING and
// STOPPING, and regularly that all threads make progress.
#pragma once

#include <filesystem>

#include "aggregator/settings.h"

namespace l4::aggregator {

/// Checks that all files named by the config can be used; starts nothing.
Result<void> check(const Settings& settings);

/// The exit status: 0 after a signal, 2 if something it needs is not there, 1 if it cannot go on.
int run(Settings settings, const std::filesystem::path& config);

}  // namespace l4::aggregator
