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

/// Others that have printed something of a later iteration than this stream's last one.
bool passed_by_half(const RecordedJob& job, std::size_t stream) {
  const std::int64_t last = job.streams[stream].back().iteration;
  std::size_t others = 0, passed = 0;
  for (std::size_t i = 0; i < job.streams.size(); ++i) {
    if (i == stream || job.streams[i].empty()) continue;
    ++others;
    passed += job.streams[i].back().iteration > last ? 1 : 0;
  }
  return others > 0 && 2 * passed >= others;
}

std::map<Key, std::vector<Observation>> by_iteration(const RecordedJob& job) {
  std::map<Key, std::vector<Observation>> rounds;
  for (std::size_t stream = 0; stream < job.streams.size(); ++stream) {
    const auto& iterations = job.streams[stream];
    std::unordered_map<std::int64_t, std::size_t> repeats;
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      const StreamIteration& one = iterations[i];
      const bool last = i + 1 == iterations.size();
      const bool open = last && !job.ended && !passed_by_half(job, stream);
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
