#include "aggregator/http/job_limit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "aggregator/serve/shell_pattern.h"
#include "aggregator/serve/utf8.h"

namespace l4::http {
namespace {

/// What is wrong with a pattern; empty: nothing.
std::string fault_of_pattern(std::string_view pattern) {
  if (pattern.empty()) return "is empty";
  if (pattern.size() > JobLimit::kPatternBytesMax)
    return fmt::format("is longer than {} bytes", JobLimit::kPatternBytesMax);
  if (std::ranges::any_of(pattern, [](unsigned char c) { return c <= ' ' || c == 0x7f; }))
    return "holds a space or a control character; ? stands for any one";
  const std::size_t open = pattern.find('[');
  // The first character after [ is one of the set, also if it is a ].
  if (open != std::string_view::npos && pattern.find(']', open + 2) == std::string_view::npos)
    return "has a [ without its ]";
  if (pattern.ends_with('\\')) return "ends with a backslash";
  return {};
}

}  // namespace

Result<JobLimit> JobLimit::parse(std::string_view text) {
  JobLimit limit;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string_view pattern = text.substr(from, to - from);
    if (const std::string fault = fault_of_pattern(pattern); !fault.empty())
      return std::unexpected(
          Error{{},
                fmt::format("the pattern of jobs '{}' {}",
                            serve::harmless(serve::cut(pattern, kPatternBytesMax)), fault)});
    if (limit.patterns_.size() == kPatternsMax)
      return std::unexpected(Error{{}, fmt::format("more than {} patterns of jobs", kPatternsMax)});
    limit.patterns_.emplace_back(pattern);
    from = to + 1;
  }
  return limit;
}

bool JobLimit::includes(const std::string& job) const {
  if (!is_limited()) return true;
  return !job.empty() && std::ranges::any_of(patterns_, [&](const std::string& pattern) {
    return serve::matches_pattern(pattern, job);
  });
}

bool JobLimit::covers(const std::string& pattern) const {
  if (!is_limited()) return true;
  const std::string_view start = serve::fixed_start(pattern);
  if (start.size() == pattern.size()) return includes(pattern);
  return std::ranges::any_of(patterns_, [&](const std::string& own) {
    const std::string_view own_start = serve::fixed_start(own);
    return own == pattern || (own.size() == own_start.size() + 1 && own.ends_with('*') &&
                              start.starts_with(own_start));
  });
}

std::string JobLimit::text() const {
  return fmt::format("{}", fmt::join(patterns_, ","));
}

}  // namespace l4::http
