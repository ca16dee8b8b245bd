#include "aggregator/job/job_span.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "aggregator/job/stream.h"

namespace l4::job {
namespace {

/// Times of streams with their lines.
using Weighted = std::vector<std::pair<TimeMs, std::uint64_t>>;

std::optional<TimeMs> median(Weighted& times) {
  if (times.empty()) return std::nullopt;
  std::ranges::sort(times);
  std::uint64_t all = 0;
  for (const auto& [time, lines] : times) all += lines;
  std::uint64_t before = 0;
  for (const auto& [time, lines] : times) {
    before += lines;
    if (before * 2 >= all) return time;
  }
  return times.back().first;
}

}  // namespace

JobSpan::JobSpan(const std::vector<Attempts::Speaker>& speakers) {
  Weighted begins, ends;
  for (const auto& [agent, stream] : speakers) {
    if (stream->begin) begins.emplace_back(*stream->begin, stream->lines);
    if (stream->end) ends.emplace_back(*stream->end, stream->lines);
  }
  begin_ = median(begins);
  end_ = median(ends);
}

std::optional<TimeMs> JobSpan::within(std::optional<TimeMs> time) const {
  constexpr Millis kFar = std::chrono::days{31};
  if (!time || !begin_ || !end_) return time;
  return *time < *begin_ - kFar || *time > *end_ + kFar ? std::nullopt : time;
}

}  // namespace l4::job
