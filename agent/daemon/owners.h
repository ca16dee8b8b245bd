// The job, node and rank of a log: from the processes that write it, else from its path, else from
// the configuration.
//
// Flow: the tailer announces a log -> Intake asks here -> pipeline of that job. Keeps no state but
// a pointer to ProcessWatch; one thread.
#pragma once

#include <optional>
#include <string>

#include "agent/discover/discover.h"
#include "agent/host/process_watch.h"

namespace l4::daemon {

struct Owner {
  std::string job;
  discover::LogFile facts;
  bool by_process = false;  ///< known from a rank process that writes the log
  std::string writers_job;  ///< as the writing processes name it; may be empty
  bool named = false;       ///< a process, path or setting names the job; else the folder does
};

class Owners {
 public:
  struct Defaults {
    std::string job;                ///< named by the configuration; may be empty
    std::string node;               ///< named by the configuration; may be empty
    std::string agent;              ///< name of the agent: the node of logs without a named node
    std::optional<Rank> rank = {};  ///< from the configuration, if all logs here are one rank's
    std::optional<std::int32_t> local_rank = {};
  };

  /// `watch` must outlive this; null: no processes are watched.
  Owners(Defaults defaults, const host::ProcessWatch* watch)
      : defaults_(std::move(defaults)), watch_(watch) {}

  Owner of(const std::string& path, const std::string& root,
           const std::optional<host::FileKey>& file) const;
  /// Whether a rank process that writes the file is known. A process that has ended counts only
  /// after a scan of the living ones: another process may write the file by now.
  bool knows(const std::optional<host::FileKey>& file) const;
  /// Job that the living rank processes of the file name; empty if no living process writes it.
  std::optional<std::string> living_job(const std::optional<host::FileKey>& file) const;
  /// Node that the path or the configuration names; empty if none does.
  std::string node_of_path(const std::string& path, const std::string& root) const;

 private:
  void apply_configured_rank(discover::LogFile& file) const;

  Defaults defaults_;
  const host::ProcessWatch* watch_;
};

}  // namespace l4::daemon
