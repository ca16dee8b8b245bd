// The lines that a demo has written last, to find when a kind of line was first written.
//
// Flow: what the recording writes -> add(); events of a report -> first(). One owner, one thread.
// Bounds: the newest kLines, kBytes of each.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace l4::commands::demo {

class RecentLines {
 public:
  static constexpr std::size_t kLines = 50'000, kBytes = 512;

  struct Line {
    TimeMs at{};  ///< when it was written
    std::string node, text;
  };

  void add(TimeMs at, const std::string& node, std::string_view lines);
  /// The first line, not before `from`, that one of the templates may have come of.
  std::optional<Line> first(const std::vector<std::string>& templates, TimeMs from) const;

 private:
  std::deque<Line> lines_;
};

}  // namespace l4::commands::demo
