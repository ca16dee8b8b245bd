#include "offline/file_times.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "common/base/earliest.h"

namespace l4::offline {
namespace {

struct FileEnd {
  std::optional<TimeMs> modified, last_line;
};

/// The file was last written when its last line was printed, by a clock of some time zone.
bool fits(TimeMs modified, TimeMs last_line) {
  constexpr Millis kZoneStep = std::chrono::minutes(15);  // all zones are multiples of it
  constexpr Millis kSlack{5'000};
  Millis rest = (modified - last_line) % kZoneStep;
  if (rest < Millis{0}) rest += kZoneStep;
  return std::min(rest, kZoneStep - rest) <= kSlack;
}

}  // namespace

bool times_of_copy(const job::JobState& state) {
  std::map<std::string, FileEnd> files;  // several streams may speak in one file
  for (const auto& [name, agent] : state.agents())
    for (const auto& [id, stream] : agent.streams) {
      FileEnd& file = files[stream.source.path];
      file.modified = stream.source.modified;
      keep_latest(file.last_line, stream.end);
    }
  std::size_t timed = 0;
  std::size_t fitting = 0;
  for (const auto& [path, file] : files) {
    if (!file.modified || !file.last_line) continue;
    ++timed;
    if (fits(*file.modified, *file.last_line)) ++fitting;
  }
  return timed > 0 && fitting * 2 <= timed;
}

}  // namespace l4::offline
