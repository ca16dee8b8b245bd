// What stands on this machine where the sources of the settings point: how many logs each pattern
// matches, which is the newest, and for one that matches none what stands nearest to it.
//
// For people who write settings (`l4 setup agent`), and for the agent's hints about them; the
// tailer decides for itself. Reads names, and the first bytes of files, with the rights of the
// calling thread. Bounds: 100,000 names, the heads of 2,000 files; then `cut` is set. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::tail {

/// A text that matches by its name and is taken for no log.
struct UnreadFile {
  std::string path, why;
  std::uint64_t bytes = 0;
};
inline constexpr std::size_t kUnreadFilesMax = 64;

struct SurveyedSource {
  std::string pattern;
  std::size_t files = 0;   ///< logs
  std::size_t others = 0;  ///< match by their names, but are no logs
  std::size_t closed = 0;  ///< files and folders that may not be read
  std::string newest, first_closed, first_other;
  TimeMs written{};                ///< when the newest was
  std::string hint;                ///< a sentence; only where there is no log
  std::vector<UnreadFile> unread;  ///< of `others`, at most kUnreadFilesMax
  bool cut = false;
};

/// A row for each pattern, in their order. Error: a pattern that the agent would refuse.
Result<std::vector<SurveyedSource>> survey_sources(const std::vector<std::string>& patterns,
                                                   const std::vector<std::string>& excludes);

/// What stands nearest to a pattern that matches nothing: the first part of it that is not there,
/// and what is there in its place.
std::string nearest_to(const std::string& pattern);

}  // namespace l4::tail
