#include "aggregator/flows/events.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace l4::flows {
namespace {

constexpr std::uint32_t kLowEdges = 64;

bool has_edge(const Event& event, std::uint32_t edge) {
  if (edge < kLowEdges) return (event.low_edges >> edge & 1) != 0;
  return std::ranges::any_of(event.parts, [&](const KeptPart& part) { return part.edge == edge; });
}

}  // namespace

void Event::add(const Part& part) {
  const auto kept = [&](TimeNs time) {
    constexpr TimeNs kMost = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(std::clamp((time - base) / kUnit, -kMost, kMost));
  };
  parts.push_back({part.edge, kept(part.start), kept(part.end)});
  if (part.edge < kLowEdges) low_edges |= std::uint64_t{1} << part.edge;
  bytes += part.bytes;
}

void Assembler::start(Event& event, const Part& part) {
  event.parts.clear();
  event.low_edges = event.bytes = 0;
  event.base = part.start;
  event.add(part);
  event.first_start = event.last_start = part.start;
  event.end = part.end;
}

void Assembler::place(const Part& part) {
  for (Event& event : open_) {
    if (event.end + settings_.tolerance < part.end || part.end + settings_.tolerance < event.end ||
        has_edge(event, part.edge))
      continue;
    event.add(part);
    event.first_start = std::min(event.first_start, part.start);
    event.last_start = std::max(event.last_start, part.start);
    event.end = std::max(event.end, part.end);
    return;
  }
  Event made;
  if (!spare_->empty()) {
    made = std::move(spare_->back());
    spare_->pop_back();
  }
  start(made, part);
  const auto at =
      std::ranges::find_if(open_, [&](const Event& event) { return event.end > made.end; });
  open_.insert(at, std::move(made));
}

}  // namespace l4::flows
