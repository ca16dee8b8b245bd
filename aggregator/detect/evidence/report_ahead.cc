#include "aggregator/detect/evidence/report_ahead.h"

#include <algorithm>
#include <string_view>

#include "aggregator/job/stream.h"
#include "aggregator/numbers/evidence.h"

namespace l4::detect {

ReportAhead::ReportAhead(const job::JobView& view) {
  constexpr std::string_view kFollows = "The output (if any) follows";
  for (const job::EventView& event : view.events) {
    if (!event.text.starts_with(kFollows)) continue;
    for (const job::Occurrence& at : event.at) {
      std::uint64_t& line = ends_[view.streams[at.stream].log()];
      line = std::max(line, at.stats.last_line);
    }
  }
}

bool ReportAhead::holds(const job::JobView& view, const job::Occurrence& at) const {
  if (ends_.empty()) return false;
  const auto end = ends_.find(view.streams[at.stream].log());
  const std::uint64_t line = at.stats.last_line;
  return end != ends_.end() && line < end->second &&
         end->second - line <= numbers::evidence().report_lines;
}

}  // namespace l4::detect
