// Events of a JobView by the local template ids of one agent.
//
// Place in the flow: sequences of a stream hold local ids; what compares ranks reads them through
// it. Private to this room. Refers to the view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "aggregator/job/job_state.h"
#include "aggregator/job/view.h"

namespace l4::detect::temporal {

/// Local template ids of one agent to events of the view.
class EventNumbers {
 public:
  EventNumbers(const job::JobView& view, const job::AgentSlice& agent)
      : view_(view), agent_(agent), counted_(view.numbers.find(&agent)) {}

  /// Empty for a template that the agent has forgotten.
  std::optional<std::uint32_t> of(std::uint32_t local) {
    if (counted_ != view_.numbers.end() && local < counted_->second.size() &&
        counted_->second[local] != job::kNoEvent)
      return counted_->second[local];
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
  decltype(job::JobView::numbers)::const_iterator counted_;  ///< what the agent's streams count
  std::unordered_map<std::uint32_t, std::optional<std::uint32_t>> known_;  ///< other templates
};

}  // namespace l4::detect::temporal
