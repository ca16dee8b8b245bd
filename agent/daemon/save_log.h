// Logs when a file of the state folder cannot be saved, and when it can be saved again.
//
// Used by what keeps a file for the next agent (LogFollower, ProcessReporter). One thread.
#pragma once

#include <fmt/format.h>

#include "agent/daemon/own_log.h"
#include "common/base/error.h"

namespace l4::daemon {

class SaveLog {
 public:
  /// `what`: the content of the file, in the plural (positions, processes); `log` outlives this.
  SaveLog(const char* what, OwnLog& log) : what_(what), log_(log) {}

  /// True if the file was saved.
  bool saved(const Result<void>& result, Millis steady) {
    if (!result)
      log_.warn(fmt::format("{} cannot be remembered: {}", what_, result.error().text()), steady);
    else if (failing_)
      log_.info(fmt::format("{} are remembered again", what_), steady);
    failing_ = !result;
    return !failing_;
  }

 private:
  const char* what_;
  OwnLog& log_;
  bool failing_ = false;
};

}  // namespace l4::daemon
