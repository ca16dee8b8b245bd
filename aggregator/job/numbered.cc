#include "aggregator/job/numbered.h"

#include <algorithm>
#include <cmath>

#include "aggregator/job/median.h"
#include "aggregator/job/view.h"

namespace l4::job {
namespace {

/// How numbers follow from rounds.
struct Rule {
  std::int64_t stride = 1, shift = 0;
};

/// Rounds between the anchors of a stream whose numbers grow with them; 0: it tells nothing.
std::uint32_t rounds_of(const Stream& stream) {
  const auto &first = stream.first_anchor, &last = stream.last_anchor;
  const bool grows =
      first && last && last->beat > first->beat && last->iteration > first->iteration;
  return grows ? last->beat - first->beat : 0;
}

/// The median over the streams that print both for longest.
std::optional<Rule> rule_of(const JobView& view) {
  std::uint32_t longest = 0;
  for (const StreamView& stream : view.streams)
    longest = std::max(longest, rounds_of(*stream.state));
  if (longest == 0) return std::nullopt;
  std::vector<std::int64_t> strides, shifts;
  const auto each = [&](auto&& take) {
    for (const StreamView& stream : view.streams)
      if (const std::uint32_t rounds = rounds_of(*stream.state); 2 * rounds > longest)
        take(*stream.state->first_anchor, *stream.state->last_anchor, rounds);
  };
  each([&](const BeatAnchor& first, const BeatAnchor& last, std::uint32_t rounds) {
    const auto numbers = static_cast<double>(last.iteration.value() - first.iteration.value());
    strides.push_back(std::llround(numbers / rounds));
  });
  const std::int64_t stride = lower_median(strides);
  if (stride < 1) return std::nullopt;
  each([&](const BeatAnchor&, const BeatAnchor& last, std::uint32_t) {
    shifts.push_back(last.iteration.value() - std::int64_t{last.beat} * stride);
  });
  return Rule{stride, lower_median(shifts)};
}

}  // namespace

std::size_t NumberedRows::from(Iteration iteration) const {
  if (rows_ == nullptr) return 0;
  const auto at = std::ranges::partition_point(*rows_, [&](const auto& row) {
    return row.first.value() * stride_ + shift_ < iteration.value();
  });
  return static_cast<std::size_t>(at - rows_->begin());
}

std::optional<std::size_t> NumberedRows::find(Iteration iteration) const {
  const std::size_t place = from(iteration);
  return place < size() && number(place) == iteration ? std::optional(place) : std::nullopt;
}

NumberedStreams number_streams(const JobView& view) {
  const auto rule = rule_of(view);
  NumberedStreams numbered(view.streams.size());
  for (std::size_t i = 0; i < numbered.size(); ++i) {
    const Stream& stream = *view.streams[i].state;
    if (rule && stream.beats.size() > 2 * stream.iterations.size())
      numbered[i] = {stream.beats, rule->stride, rule->shift};
    else if (!stream.iterations.empty())
      numbered[i] = {stream.iterations, 1, 0};
  }
  return numbered;
}

}  // namespace l4::job
