#include "aggregator/detect/temporal/iteration_sequences.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "aggregator/job/clock.h"
#include "aggregator/job/job_state.h"
#include "aggregator/job/view.h"

namespace l4::detect::temporal {
namespace {

/// Local template ids of one agent to events of the view.
class EventNumbers {
 public:
  EventNumbers(const job::JobView& view, const job::AgentSlice& agent)
      : view_(view), agent_(agent) {}

  /// Empty for a template that the agent has forgotten.
  std::optional<std::uint32_t> of(std::uint32_t local) {
    const auto [found, created] = known_.try_emplace(local, std::nullopt);
    if (created) {
      const TemplateId id =
          view_.state->templates().resolve(agent_.node_index, LocalTemplateId{local});
      const auto event = std::ranges::lower_bound(view_.events, id, {}, &job::EventView::id);
      if (event != view_.events.end() && event->id == id)
        found->second = static_cast<std::uint32_t>(event - view_.events.begin());
    }
    return found->second;
  }

 private:
  const job::JobView& view_;
  const job::AgentSlice& agent_;
  std::unordered_map<std::uint32_t, std::optional<std::uint32_t>> known_;
};

std::size_t iterations_per_stream(const job::JobView& view) {
  std::size_t streams = 0;
  for (const job::StreamView& stream : view.streams)
    if (!stream.state->iterations.empty()) ++streams;
  return streams == 0 ? 0 : std::max<std::size_t>(16, IterationSequences::kSequencesMax / streams);
}

}  // namespace

IterationSequences collect_sequences(const job::JobView& view, const job::JobClock& clock,
                                     Parts without) {
  const bool compared = !without.has(Part::dtw);
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
    std::size_t seen = 0;
    for (const auto& [iteration, record] : iterations) {
      if (seen++ < skip || record.sequence == job::SequenceId{0}) continue;  // 0: forgotten
      StreamIteration one;
      one.iteration = iteration.value();
      if (compared)
        for (const std::uint32_t local : stream.agent->sequences.at(record.sequence))
          if (const auto event = events.of(local)) one.events.push_back(*event);
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
