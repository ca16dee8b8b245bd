// The local memory of how far files are counted, so that an agent finds its files again.
//
// Only a cache: the aggregator is the authority, and what is lost here is learned from its HELLO.
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
    bool complete = true;     ///< the file ends as it was written to end
  };
  /// A file that is not there gives nothing; Error if it is there and can not be read.
  Result<Loaded> load() const;

  /// Does nothing if the same was saved last. Error: what the system says of it (disk full, read
  /// only, no such folder); the next call tries again.
  Result<void> save(std::span<const Position> positions);

 private:
  RowsFile file_;
};

}  // namespace l4::tail
