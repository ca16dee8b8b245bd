// Which job a log belongs to, on which node, and whose it is: from the processes that write it,
// else from its path, else from the configuration.
//
// Flow: the tailer announces a log -> Intake asks here -> pipeline of that job. Pure but for what
// ProcessWatch knows; one thread.
#pragma once

#include <optional>
#include <string>

#include "agent/discover/discover.h"
#include "agent/host/process_watch.h"

namespace l4::daemon {

struct Owner {
  std::string job;
  discover::LogFile facts;
  bool by_process = false;  ///< a rank process was found that writes it
  std::string writers_job;  ///< that the processes which write it name; may be empty
  bool named = false;       ///< somebody names the job; else it is called after the folder
};

class Owners {
 public:
  struct Defaults {
    std::string job;                ///< of the configuration; may be empty
    std::string node;               ///< of the configuration; may be empty
    std::string agent;              ///< its name: the node of what nothing names
    std::optional<Rank> rank = {};  ///< of the configuration, where all logs here are of one rank
    std::optional<std::int32_t> local_rank = {};
  };

  /// `watch` may be null: no processes are watched. It must outlive this.
  Owners(Defaults defaults, const host::ProcessWatch* watch)
      : defaults_(std::move(defaults)), watch_(watch) {}

  Owner of(const std::string& path, const std::string& root,
           const std::optional<host::FileKey>& file) const;
  /// A rank process is known that writes the file. One that is gone counts only after a look at
  /// those that live: somebody else may write it by now.
  bool knows(const std::optional<host::FileKey>& file) const;
  /// Job that the rank processes name which live and write the file; none if nobody does.
  std::optional<std::string> living_job(const std::optional<host::FileKey>& file) const;
  /// Node that the path or the configuration names; empty if none does.
  std::string node_of_path(const std::string& path, const std::string& root) const;

 private:
  void take_configured_rank(discover::LogFile& file) const;

  Defaults defaults_;
  const host::ProcessWatch* watch_;
};

}  // namespace l4::daemon
