// The processes that an agent watched, kept for the agent after it.
//
// Flow: Agent saves ProcessWatch::remembered() now and then, and resumes from it at its start:
// whose logs those were, which attempt it was, and who ended while no agent ran. Only a cache: what
// is lost or damaged is left out and counted, and the processes that still run are found by /proc.
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
  /// A file that is not there gives nothing; Error if it is there and can not be read.
  Result<Loaded> load() const;
  /// Does nothing if the same was saved last. Error: what the system says of it.
  Result<void> save(const std::vector<ProcessWatch::Remembered>& processes);

 private:
  RowsFile file_;
};

}  // namespace l4::host
