// Finds the processes that write the log files: one pass over /proc/*/fd, in steps.
// Flow: ProcessWatch starts a pass when a log file appears or a watched process has exited, and
// calls `step` until the pass is done. Files are identified by device and inode, so a renamed or
// deleted file is found, also through another mount. If a process writes a file from a pipe (tee, a
// launcher), the writers of that pipe are found. The output of a container is written by its
// runtime: the processes of the container are found by the id that the path of the log and their
// control group share. The agent itself is left out. Bounds: `step` scans about `budget`
// descriptors; pipes and holdings of a pass are capped and counted. A process that may not be read
// is counted; that is not an error. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/host/proc.h"

namespace l4::host {

struct LogPlace {
  std::string path;
  FileKey key;
};

enum class Via : std::uint8_t { direct, pipe, container };

struct Holding {
  Pid pid;
  SinceBoot started{0};
  std::size_t log = 0;  ///< index into the logs of the pass
  Via via = Via::direct;
};

/// Ids of a pod or container in the path of its log: 64 hexadecimal digits or a UUID, normalised.
std::vector<std::string> container_ids(std::string_view path);

class HolderScan {
 public:
  struct Limits {
    std::size_t pipes = 65'536, holdings = 65'536;
  };
  struct Stats {
    std::uint64_t processes = 0, descriptors = 0, denied = 0, pipes_cut = 0, holdings_cut = 0;
  };

  /// `self` is left out. References must outlive the pass.
  HolderScan(const Proc& proc, std::vector<LogPlace> logs, Pid self, Limits limits);

  /// True when the pass is done and `holdings` is complete.
  bool step(std::size_t budget);
  /// Sorted by process and log; if a file is held in several ways, the most direct way stands here.
  const std::vector<Holding>& holdings() const { return holdings_; }
  const Stats& stats() const { return stats_; }

 private:
  struct PipeEnd {
    Pid pid;
    int descriptor = -1;
    FileKey key;
  };
  std::size_t scan_process(Pid pid);
  void scan_group(Pid pid, SinceBoot started);
  void hold(const Holding& holding);
  void follow_pipes();
  void finish();

  const Proc& proc_;
  std::vector<LogPlace> logs_;
  std::multimap<FileKey, std::size_t> by_key_;
  std::multimap<std::string, std::size_t> by_id_;
  Pid self_;
  Limits limits_;
  std::vector<Pid> pids_;
  std::size_t next_ = 0;
  bool done_ = false;
  std::vector<PipeEnd> pipes_;
  std::vector<Holding> holdings_;
  Stats stats_;
};

}  // namespace l4::host
