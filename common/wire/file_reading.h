// How well an agent understood the lines of one log: for the report, never for a verdict.
//
// Place in the flow: agent/pipeline counts, aggregator/job keeps the newest one of each path.
// Counts are totals since the agent began to read the log, so a later one replaces an earlier one.
// Plain values.
#pragma once

#include <cstdint>
#include <string>

namespace l4::wire {

struct FileReading {
  std::string path;
  std::uint64_t lines = 0;
  std::uint64_t timed = 0;  ///< lines with a printed time
  std::uint64_t glued = 0;  ///< lines found behind other text on the same line
  std::uint64_t split = 0;  ///< lines joined from several
  std::string format;       ///< of the times; empty: none
  std::string marker;       ///< template of the lines that mark iterations; empty: none
  std::string marker_why;   ///< why these mark iterations
  std::string packs;        ///< rule packs that knew a line: "megatron, nccl"
  bool operator==(const FileReading&) const = default;
};

}  // namespace l4::wire
