#include "aggregator/detect/temporal/recorded_job.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "aggregator/numbers/temporal.h"

namespace l4::detect::temporal {
namespace {

/// Key of an iteration: how many iterations of its stream had the same number before, then the
/// number.
using Key = std::pair<std::size_t, std::int64_t>;

/// The last iteration of each stream, ascending: a place in the list shows how many streams go on
/// behind it.
std::vector<std::int64_t> last_iterations(const RecordedJob& job) {
  std::vector<std::int64_t> last;
  for (const auto& stream : job.streams)
    if (!stream.empty()) last.push_back(stream.back().iteration);
  std::ranges::sort(last);
  return last;
}

/// True if at least half of the other streams have printed something of an iteration later than
/// `last`.
bool passed_by_half(const std::vector<std::int64_t>& sorted, std::int64_t last) {
  const auto passed = sorted.end() - std::ranges::upper_bound(sorted, last);
  const auto others = static_cast<std::ptrdiff_t>(sorted.size()) - 1;
  return others > 0 && 2 * passed >= others;
}

/// So none of them is repeated.
bool numbers_ascend(const std::vector<StreamIteration>& iterations) {
  return std::ranges::adjacent_find(iterations, std::greater_equal<>{},
                                    &StreamIteration::iteration) == iterations.end();
}

struct Round {
  std::int64_t iteration = 0;
  std::vector<Observation> observations;
};

std::vector<Round> by_iteration(const RecordedJob& job) {
  std::map<Key, std::vector<Observation>> found;
  const auto sorted = last_iterations(job);
  for (std::size_t stream = 0; stream < job.streams.size(); ++stream) {
    const auto& iterations = job.streams[stream];
    const bool once = numbers_ascend(iterations);
    std::unordered_map<std::int64_t, std::size_t> repeats;
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      const StreamIteration& one = iterations[i];
      const bool last = i + 1 == iterations.size();
      const bool open = last && !job.ended && !passed_by_half(sorted, one.iteration);
      const std::size_t before = once ? 0 : repeats[one.iteration]++;
      found[{before, one.iteration}].push_back(
          {static_cast<std::uint32_t>(stream), one.events, one.seconds, open});
    }
  }
  std::vector<Round> rounds;
  rounds.reserve(found.size());
  for (auto& [key, observations] : found) rounds.push_back({key.second, std::move(observations)});
  return rounds;
}

struct Pass {
  TemporalFindings found;
  std::size_t done = 0;    ///< rounds that were compared, from the first on
  bool exhausted = false;  ///< the work bound ended the comparison early
};

Pass score_rounds(std::span<const Round> rounds, const TemporalOptions& options) {
  TemporalScorer scorer(options);
  Pass pass;
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  for (const Round& round : rounds) {
    TemporalFindings found = scorer.observe(round.iteration, round.observations);
    append(pass.found.alarms, found.alarms);
    append(pass.found.notes, found.notes);
    append(pass.found.iterations, found.iterations);
    pass.exhausted = scorer.exhausted();
    if (pass.exhausted) break;
    ++pass.done;
  }
  return pass;
}

/// Options for a coarse comparison: fewer and shorter sequences.
TemporalOptions coarse(TemporalOptions options) {
  options.recent = numbers::temporal().coarse_recent;
  options.prototypes = options.shared_compared = numbers::temporal().coarse_prototypes;
  options.peers = numbers::temporal().coarse_peers;
  options.length_max = numbers::temporal().coarse_length_max;
  return options;
}

}  // namespace

TemporalFindings score_job(const RecordedJob& job, const TemporalOptions& options) {
  const std::vector<Round> rounds = by_iteration(job);
  Pass pass = score_rounds(rounds, options);
  if (!pass.exhausted) return std::move(pass.found);
  // Repeats with about as many of the newest iterations as this pass has compared.
  const std::size_t least = std::min(rounds.size(), numbers::temporal().rounds_min);
  std::size_t newest = std::max(least, pass.done * 3 / 4);
  if (newest < rounds.size()) pass = score_rounds(std::span(rounds).last(newest), options);
  if (pass.exhausted) {
    newest = least;
    pass = score_rounds(std::span(rounds).last(newest), coarse(options));
  }
  pass.found.left_out = rounds.size() - newest;
  return std::move(pass.found);
}

}  // namespace l4::detect::temporal
