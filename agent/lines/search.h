// Finds the lines of one log that a question asks for: at its end, around a time, or of a template.
//
// Flow: read_lines.h gives each log its share of the budget -> here: opens the files (log_files.h),
// finds the offset of a time by bisection over the times that lines print (a packed file is read
// from its beginning), and reads stretches (window.h) from there, the newest first. Each part that
// it could not read becomes a gap. No index is needed: the aggregator knows when a template was
// last seen in a log (docs/adr/0013). Reads at most `Budget::read_bytes`, checks the clock between
// stretches of 256 KiB. One thread.
#pragma once

#include <cstdint>

#include <functional>
#include <string>
#include <vector>

#include "agent/lines/log_files.h"
#include "agent/lines/window.h"

namespace l4::lines {

struct Budget {
  std::uint64_t read_bytes = 0, text_bytes = 0;
  std::size_t lines = 0;       ///< hits
  std::function<bool()> over;  ///< the time is over, or the question is given up
};

/// A hit and the lines around it, redacted.
using Block = std::vector<wire::RawLine>;

struct Found {
  std::vector<std::string> files;  ///< RawLine::file is an index into it
  Block lines;                     ///< in order
  std::vector<wire::LinesGap> gaps;
  std::size_t hits = 0;
  std::uint64_t read_bytes = 0, text_bytes = 0, redacted = 0;
};

Found search(const Task& task, const AskedLog& log, const Budget& budget, tail::FileSystem& files);

}  // namespace l4::lines
