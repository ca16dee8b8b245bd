#include "aggregator/detect/evidence/report_ahead.h"

#include <cstddef>
#include <cstdint>

#include "aggregator/job/stream.h"
#include "aggregator/numbers/evidence.h"

namespace l4::detect {

ReportAhead::ReportAhead(const job::JobView& view)
    : ends_(last_lines(
          view,
          [&](std::size_t event) {
            return view.events[event].text.starts_with("The output (if any) follows");
          },
          [](const job::EventStats& stats) { return stats.count == 1 ? stats.first_line : 0; })) {}

bool ReportAhead::holds(const job::JobView& view, const job::Occurrence& at) const {
  if (ends_.empty()) return false;
  const auto end = ends_.find(view.streams[at.stream].log());
  const std::uint64_t line = last_known_line(at.stats);
  return end != ends_.end() && line < end->second &&
         end->second - line <= numbers::evidence().report_lines;
}

}  // namespace l4::detect
