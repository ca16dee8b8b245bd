// The processes that an agent watched, kept for the agent after it.
//
// Flow: the agent saves ProcessWatch::remembered() from time to time and resumes from the file when
// it starts. So it knows the owners of logs, the attempts, and the processes that ended while no
// agent ran. Only a cache: damaged rows are left out and counted, and a scan of /proc finds the
// processes that still run.
// Rows of common/base/rows_file.h. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agent/host/process_watch.h"
#include "common/base/rows_file.h"

namespace l4::host {

class WatchFile {
 public:
  explicit WatchFile(std::string path);

  struct Loaded {
    std::vector<ProcessWatch::Remembered> processes;
    std::size_t damaged = 0;  ///< rows that were left out
  };
  /// Empty if the file is missing; Error if it cannot be read.
  Result<Loaded> load() const;
  /// Does nothing if the same rows were saved last. Error: the system's reason.
  Result<void> save(const std::vector<ProcessWatch::Remembered>& processes);

 private:
  RowsFile file_;
};

}  // namespace l4::host
