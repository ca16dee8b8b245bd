#include "aggregator/detect/crash/quiet.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "aggregator/job/clock.h"
#include "aggregator/job/share.h"
#include "aggregator/job/view.h"
#include "aggregator/numbers/crash.h"

namespace l4::detect::crash {
namespace {

/// Where failures stand that few ranks print.
class FewRanks {
 public:
  FewRanks(const job::JobView& view, const std::vector<FailureEvent>& events) {
    for (const FailureEvent& event : events)
      if (job::is_few(event.occurrences.size(), view.ranks.size()))
        for (const std::uint32_t i : event.occurrences)
          places_.push_back(
              {view.events[event.event].at[i].stream, view.events[event.event].at[i].first_line});
  }
  /// Line and failure are of one message.
  bool are_beside(const job::Occurrence& at) const {
    return std::ranges::any_of(places_, [&](const Place& place) {
      const auto [first, last] = std::minmax(place.line, at.first_line);
      return place.stream == at.stream && last - first <= numbers::crash().block_lines;
    });
  }

 private:
  struct Place {
    std::uint32_t stream;
    std::uint64_t line;
  };
  std::vector<Place> places_;
};

/// Beside failures that words tell: what its program calls a detail, or what a single one of many
/// ranks warns of or informs about, away from what few ranks say of the failure. Such lines come
/// and go in healthy runs as well.
bool is_aside(const job::JobView& view, const FailureEvent& found, const EventHint& hint,
              const FewRanks& failures) {
  const job::EventView& event = view.events[found.event];
  if (event.level == Level::unknown || event.level > Level::warning) return false;
  if (hint.known_fault && !hint.harmless) return false;
  if (event.level <= Level::debug) return true;
  return found.occurrences.size() == 1 && job::is_few(1, view.ranks.size()) &&
         !failures.are_beside(event.at[found.occurrences.front()]);
}

}  // namespace

void add_quiet(const job::JobView& view, const job::JobClock& clock,
               const std::vector<EventHint>& hints, const UsualCourse& course,
               std::vector<FailureEvent>& quiet, FailureEvents& found) {
  if (!found.first_failure) return;
  const FewRanks failures(view, found.events);
  for (FailureEvent& event : quiet) {
    if (!event.first_time) continue;
    const EventHint& hint = hints[event.event];
    if (!found.compared && is_aside(view, event, hint, failures)) continue;
    const bool apart = course.known().runs && is_set_apart(view, clock, event, hint, course);
    const bool after = *event.first_time >= *found.first_failure;
    const bool near = *event.first_time + numbers::crash().quiet_before >= *found.first_failure;
    if ((after && clock.has_iterations()) || (apart && near))
      found.events.push_back(std::move(event));
  }
}

}  // namespace l4::detect::crash
