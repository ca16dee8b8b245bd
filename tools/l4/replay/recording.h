// The logs of a recorded job in memory: their texts, and where they are to be written again.
//
// Place in the flow: the first step of a replay. agent/discover decides which files are logs, which
// of them were rotated into which, and which node a log belongs to, so that exactly what an agent
// would read is replayed. Packed and rotated files are one plain text under the name of the log.
// Bound: `bytes_max` of text; more is an error. What was left out, or could not be read in full,
// stands in `notes`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::replay {

/// Text of a recording that is held at most. With the times and places of its lines a replay needs
/// about as much again.
inline constexpr std::uint64_t kTextBytesMax = 512ULL << 20;

struct Log {
  std::string name;            ///< as it is called below the folder of the recording
  std::string node;            ///< if its path names none, as discover calls it; `node` if it would
                               ///< call such logs differently
  std::filesystem::path file;  ///< where it is written, below the folder of the node
  std::int32_t attempt = 0;
  std::optional<TimeMs> modified;
  std::string text;
};

struct Recording {
  std::vector<Log> logs;  ///< sorted by name
  std::vector<std::string> nodes;
  std::vector<std::string> notes;  ///< sentences for people
};

Result<Recording> read_recording(const std::filesystem::path& from,
                                 std::uint64_t bytes_max = kTextBytesMax);

}  // namespace l4::replay
