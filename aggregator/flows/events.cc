#include "aggregator/flows/events.h"

#include <algorithm>
#include <utility>

namespace l4::flows {
namespace {

bool has_edge(const Event& event, std::uint32_t edge) {
  return std::ranges::any_of(event.parts, [&](const Part& part) { return part.edge == edge; });
}

}  // namespace

void Assembler::place(const Part& part) {
  for (Event& event : open_) {
    if (event.end + settings_.tolerance < part.end || part.end + settings_.tolerance < event.end ||
        has_edge(event, part.edge))
      continue;
    event.parts.push_back(part);
    event.first_start = std::min(event.first_start, part.start);
    event.last_start = std::max(event.last_start, part.start);
    event.end = std::max(event.end, part.end);
    event.bytes += part.bytes;
    return;
  }
  Event made;
  if (!spare_.empty()) {
    made = std::move(spare_.back());
    spare_.pop_back();
  }
  made.parts.clear();
  made.parts.push_back(part);
  made.first_start = made.last_start = part.start;
  made.end = part.end;
  made.bytes = part.bytes;
  const auto at =
      std::ranges::find_if(open_, [&](const Event& event) { return event.end > made.end; });
  open_.insert(at, std::move(made));
}

}  // namespace l4::flows
