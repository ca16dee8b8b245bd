// Finds the lines of one log that a question asks for: at its end, around a time, or of a template.
//
// Flow: read_lines.h gives each log its share of the budget; this opens its files (log_files.h),
// goes to where the lines should be (by bisection over the times that lines print; a packed file is
// read from its begin), and reads stretches (window.h) from there, the newest first. What it could
// not see it says. No index is needed: the aggregator knows when a template was last seen in a log.
// Reads at most `Budget::read_bytes`, looks at the clock between stretches of 256 KiB. One thread.
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
  std::function<bool()> over;  ///< time is, or nobody waits any more
};

/// A hit and what stands around it, ready to leave the node.
using Block = std::vector<wire::RawLine>;

struct Found {
  std::vector<std::string> files;  ///< RawLine::file is a place in it
  Block lines;                     ///< in order
  std::vector<wire::LinesGap> gaps;
  std::size_t hits = 0;
  std::uint64_t read_bytes = 0, text_bytes = 0, redacted = 0;
};

Found search(const Task& task, const AskedLog& log, const Budget& budget, tail::FileSystem& files);

}  // namespace l4::lines
