#include "aggregator/detect/temporal/recorded_job.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

namespace l4::detect::temporal {
namespace {

/// How often the number was seen before in its stream, and the number.
using Key = std::pair<std::size_t, std::int64_t>;

/// Last iterations of all streams, ascending: who has been passed is a question of rank among them.
std::vector<std::int64_t> last_iterations(const RecordedJob& job) {
  std::vector<std::int64_t> last;
  for (const auto& stream : job.streams)
    if (!stream.empty()) last.push_back(stream.back().iteration);
  std::ranges::sort(last);
  return last;
}

/// At least half of the others have printed something of a later iteration than this last one.
bool passed_by_half(const std::vector<std::int64_t>& sorted, std::int64_t last) {
  const auto passed = sorted.end() - std::ranges::upper_bound(sorted, last);
  const auto others = static_cast<std::ptrdiff_t>(sorted.size()) - 1;
  return others > 0 && 2 * passed >= others;
}

std::map<Key, std::vector<Observation>> by_iteration(const RecordedJob& job) {
  std::map<Key, std::vector<Observation>> rounds;
  const auto sorted = last_iterations(job);
  for (std::size_t stream = 0; stream < job.streams.size(); ++stream) {
    const auto& iterations = job.streams[stream];
    std::unordered_map<std::int64_t, std::size_t> repeats;
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      const StreamIteration& one = iterations[i];
      const bool last = i + 1 == iterations.size();
      const bool open = last && !job.ended && !passed_by_half(sorted, one.iteration);
      rounds[{repeats[one.iteration]++, one.iteration}].push_back(
          {static_cast<std::uint32_t>(stream), one.events, one.seconds, open});
    }
  }
  return rounds;
}

}  // namespace

TemporalFindings score_job(const RecordedJob& job, const TemporalOptions& options) {
  TemporalScorer scorer(options);
  TemporalFindings all;
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  for (const auto& [key, observations] : by_iteration(job)) {
    TemporalFindings found = scorer.observe(key.second, observations);
    append(all.alarms, found.alarms);
    append(all.notes, found.notes);
    append(all.iterations, found.iterations);
  }
  return all;
}

}  // namespace l4::detect::temporal
