#include "aggregator/detect/crash/caught.h"

#include "aggregator/detect/evidence/wording.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"

namespace l4::detect::crash {

Caught::Caught(const job::JobView& view, const std::vector<EventHint>& hints) {
  kinds_.reserve(view.events.size());
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    const job::EventView& event = view.events[i];
    std::string_view kind = hints[i].ordinary ? exception_kind(event.text) : std::string_view();
    if (hints[i].ordinary && hints[i].known_fault && kind.empty()) kind = event.text;
    kinds_.push_back(kind);
    if (kinds_.back().empty()) continue;
    counts_[kinds_.back()].all += event.count;
    any_.all += event.count;
  }
}

void Caught::add(std::uint32_t event, std::uint64_t behind) {
  if (kinds_[event].empty()) return;
  counts_[kinds_[event]].behind += behind;
  any_.behind += behind;
}

const Caught::Counts* Caught::counts_of(std::uint32_t event) const {
  if (kinds_[event].empty()) return nullptr;
  return kinds_[event] == kTracebackHead ? &any_ : &counts_.at(kinds_[event]);
}

bool Caught::changed_nothing(std::uint32_t event) const {
  const Counts* counts = counts_of(event);
  return counts != nullptr && counts->all >= counts->behind + numbers::crash().harmless_times &&
         counts->all >= 2 * counts->behind;
}

}  // namespace l4::detect::crash
