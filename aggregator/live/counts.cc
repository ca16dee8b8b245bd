#include "aggregator/live/counts.h"

#include <algorithm>
#include <chrono>

namespace l4::live {

void add(scoring::ShardStats& sum, const scoring::ShardStats& part) {
  sum.jobs += part.jobs;
  sum.jobs_ended += part.jobs_ended;
  sum.jobs_frozen += part.jobs_frozen;
  sum.jobs_dropped += part.jobs_dropped;
  sum.batches += part.batches;
  sum.batches_refused += part.batches_refused;
  sum.left_out += part.left_out;
  sum.diagnoses += part.diagnoses;
  sum.incidents_opened += part.incidents_opened;
  sum.incidents_open += part.incidents_open;
  for (std::size_t i = 0; i < scoring::kStates; ++i)
    sum.open_by_state.at(i) += part.open_by_state.at(i);
  sum.suspects += part.suspects;
  sum.checkpoints += part.checkpoints;
  sum.saved_bytes += part.saved_bytes;
  sum.waiting += part.waiting;
  sum.diagnosing += part.diagnosing;
  sum.checks += part.checks;
  sum.check_alarms += part.check_alarms;
  sum.checking += part.checking;
  sum.notices_opened += part.notices_opened;
  sum.notices_open += part.notices_open;
  sum.diagnosis_longest = std::max(sum.diagnosis_longest, part.diagnosis_longest);
}

Fleet sum_of(const std::vector<receive::AgentView>& agents, TimeMs now) {
  Fleet sum;
  for (const receive::AgentView& agent : agents) {
    ++sum.agents;
    sum.lost += agent.lost ? 1 : 0;
    if (!agent.connected) continue;
    ++sum.connected;
    sum.batches_held += agent.batches_held;
    sum.bytes_held += agent.bytes_held;
    ++sum.shedding.at(static_cast<std::size_t>(agent.shedding));
    sum.silence_max = std::max(sum.silence_max, now - agent.heard);
    if (agent.offset_known)
      sum.offset_max = std::max<Millis>(sum.offset_max, std::chrono::abs(agent.offset));
  }
  return sum;
}

}  // namespace l4::live
