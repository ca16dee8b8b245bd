// The file that says when the lines of a recorded job arrived: rows `seconds,path,size`.
//
// A row says that the log had that size at that time; the last line of it may be cut. Times are on
// one clock, in ascending order; mostly seconds since the epoch. A row `# at SECONDS TEXT` is a
// fact that no log holds; other rows that begin with `#` are comments. Strict: any other row is an
// error with file and line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::replay {

struct Arrival {
  TimeMs at;
  std::string path;  ///< relative to the folder of the recording
  std::uint64_t size = 0;
  std::size_t row = 0;  ///< line of the file, from 1
};

struct Arrivals {
  struct Fact {
    TimeMs at;
    std::string text;
  };
  std::vector<Arrival> rows;
  std::vector<Fact> facts;
};

Result<Arrivals> load_arrivals(const std::filesystem::path& path);

}  // namespace l4::replay
