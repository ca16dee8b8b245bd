// The local cache of how far files are counted, so that an agent finds its files again.
//
// The aggregator is the authority: positions that are lost here come with its WELCOME.
// A row for each position (common/base/rows_file.h). One thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "agent/tail/tailer.h"
#include "common/base/rows_file.h"

namespace l4::tail {

class PositionsFile {
 public:
  explicit PositionsFile(std::string path);

  struct Loaded {
    std::vector<Position> positions;
    std::size_t damaged = 0;  ///< lines that were left out
    bool complete = true;     ///< the file has its end mark
  };
  /// Empty if the file is missing; Error if it cannot be read.
  Result<Loaded> load() const;

  /// Does nothing if the same positions were saved last. Error: the system's reason (disk full,
  /// read only, no such folder); the next call tries again.
  Result<void> save(std::span<const Position> positions);

 private:
  RowsFile file_;
};

}  // namespace l4::tail
