// Runs an agent from its settings to its end: holds the state folder, begins anew when the agent is
// crowded, reads settings again.
//
// Flow: the owner (main of l4-agent, or a thread of `l4 local`) calls `step`, waits for one of
// `descriptors` or until the returned time is over, and calls `step` again; after `stop`, until
// `is_over`, and then `close`. One thread. Errors: the state folder is held by another process, the
// port cannot be made.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/daemon/agent.h"
#include "agent/daemon/moment.h"
#include "agent/daemon/own_log.h"
#include "agent/daemon/ready.h"
#include "common/base/folder_lock.h"

namespace l4::daemon {

/// The time of this moment, from the clocks of this host.
Moment current_moment();

class Runner {
 public:
  struct Source {
    std::string software;  ///< "l4-agent 1.2"
    /// The settings, read again for each reload and each new beginning.
    std::function<Result<Ready>()> read;
    std::function<Result<std::unique_ptr<wire::ClientPort>>(const Ready&)> connect;
  };

  /// `ready`: what `source.read` gave. The log outlives the runner.
  static Result<std::unique_ptr<Runner>> start(Source source, Ready ready, OwnLog& log);

  /// Returns how long the owner may wait at most. Throws if the agent cannot begin anew.
  Millis step();
  std::vector<int> descriptors() const { return agent_->descriptors(); }

  /// Reads no further and ships what was read.
  void stop();
  /// All that was read is shipped or kept, or the time for that is over.
  bool is_over() const;
  void close();

  /// Applies the settings that may change; if they are wrong, the agent runs on as it was.
  void reload();

  std::string status() const { return agent_->status(); }
  std::string metrics() const { return agent_->metrics(); }

 private:
  Runner(Source source, OwnLog& log) : source_(std::move(source)), log_(log) {}
  Result<std::unique_ptr<Agent>> make_agent(Ready ready, std::optional<tail::Tailer> tailer = {});
  Result<void> lock_state(const Ready& ready);
  void replace_agent();

  Source source_;
  OwnLog& log_;
  std::optional<FolderLock> lock_;  ///< none: the folder cannot be locked, for example read-only
  std::unique_ptr<Agent> agent_;
  Millis replace_at_{0};
  std::optional<Millis> stop_at_;
};

}  // namespace l4::daemon
