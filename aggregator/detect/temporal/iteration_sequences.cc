#include "aggregator/detect/temporal/iteration_sequences.h"

#include <algorithm>
#include <unordered_map>

#include "aggregator/detect/temporal/event_numbers.h"
#include "aggregator/job/clock.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/laps.h"
#include "aggregator/job/view.h"

namespace l4::detect::temporal {
namespace {

std::size_t iterations_per_stream(const job::JobView& view) {
  std::size_t streams = 0;
  for (const job::StreamView& stream : view.streams)
    if (!stream.state->iterations.empty()) ++streams;
  return streams == 0 ? 0 : std::max<std::size_t>(16, IterationSequences::kSequencesMax / streams);
}

/// Seconds of each iteration from place `from` on; known where lines print exact times.
std::vector<double> seconds_of(const job::Stream& stream, const job::Stamps& stamps,
                               std::int64_t stride, std::size_t from) {
  const job::Iterations& all = stream.iterations;
  std::vector<double> seconds(all.size(), kUnknownDuration);
  if (!stamps.printed || stamps.step > Millis{1}) return seconds;
  // The first lap begins where the iteration before it was completed.
  std::size_t first = from;
  while (first > 0 && (first == from || !all[first].second.completed)) --first;
  for (const job::Lap& lap : job::laps_of(stream, stamps, all.size() - first))
    if (lap.steps == stride) seconds[lap.place] = lap.ms / 1000;
  return seconds;
}

}  // namespace

IterationSequences collect_sequences(const job::JobView& view, const job::JobClock& clock,
                                     Parts without) {
  const bool compared = !without.has(Part::dtw);
  const bool timed = compared && clock.paced && !without.has(Part::durations);
  const auto stamps = timed ? job::stamps_of(view) : std::vector<job::Stamps>();
  IterationSequences collected;
  const std::size_t newest = iterations_per_stream(view);
  std::unordered_map<const job::AgentSlice*, EventNumbers> numbers;
  for (std::uint32_t index = 0; index < view.streams.size(); ++index) {
    const job::StreamView& stream = view.streams[index];
    const auto& iterations = stream.state->iterations;
    if (iterations.empty() || stream.state->counted != clock.counted) continue;
    EventNumbers& events = numbers.try_emplace(stream.agent, view, *stream.agent).first->second;
    std::vector<StreamIteration> list;
    const std::size_t skip = iterations.size() > newest ? iterations.size() - newest : 0;
    std::vector<double> seconds;
    if (timed) seconds = seconds_of(*stream.state, stamps[index], clock.stride, skip);
    list.reserve(iterations.size() - skip);
    for (std::size_t place = skip; place < iterations.size(); ++place) {
      const auto& [iteration, record] = iterations[place];
      if (record.sequence == job::SequenceId{0}) continue;  // forgotten
      StreamIteration one;
      one.iteration = iteration.value();
      if (timed) one.seconds = seconds[place];
      if (compared) {
        const job::Sequence& printed = stream.agent->sequences.at(record.sequence);
        one.events.reserve(printed.size());
        for (const std::uint32_t local : printed)
          if (const auto event = events.of(local)) one.events.push_back(*event);
      }
      list.push_back(std::move(one));
    }
    collected.job.streams.push_back(std::move(list));
    collected.streams.push_back(index);
  }
  return collected;
}

TemporalFindings compare_iterations(IterationSequences& sequences,
                                    const std::vector<EventHint>& hints, bool ended,
                                    std::uint64_t seed) {
  TemporalOptions options;
  options.seed = seed;
  for (std::uint32_t event = 0; event < hints.size(); ++event) {
    if (hints[event].in_pool) options.normal.insert(event);
    if (hints[event].severity >= Severity::failure) options.suspicious.insert(event);
  }
  sequences.job.ended = ended;
  return score_job(sequences.job, options);
}

}  // namespace l4::detect::temporal
