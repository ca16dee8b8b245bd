// The jobs that a token reaches: all of them, or those whose names match one of its shell patterns.
//
// Flow: the fourth column of the file of tokens (tokens.h) -> Request::jobs -> the handlers of the
// API, which show nothing of other jobs. Plain value; thread-safe for reading. Bounds: kPatternsMax
// patterns of kPatternBytesMax.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace l4::http {

class JobLimit {
 public:
  static constexpr std::size_t kPatternsMax = 32, kPatternBytesMax = 200;

  JobLimit() = default;  ///< all jobs
  /// Patterns, separated by commas: `team-a-*,shared-?`. Error: a pattern is empty, too long, holds
  /// a space or a control character, or a [ without its ].
  static Result<JobLimit> parse(std::string_view text);

  bool is_limited() const { return !patterns_.empty(); }
  /// A limit includes no empty name: what has none is of the whole site.
  bool includes(const std::string& job) const;
  /// Whether each name that the pattern matches is surely included. So a pattern is covered if it
  /// is one of the limit's; if it is a name that is included; or if the limit has `START*` and the
  /// pattern begins with START.
  bool covers(const std::string& pattern) const;

  const std::vector<std::string>& patterns() const { return patterns_; }
  std::string text() const;  ///< as parse reads it; empty: all jobs
  bool operator==(const JobLimit&) const = default;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace l4::http
