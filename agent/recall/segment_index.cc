#include "agent/recall/segment_index.h"

#include <algorithm>

namespace l4::recall {
namespace {

void join(Span& into, const Span& other) {
  into.bytes.from = std::min(into.bytes.from, other.bytes.from);
  into.bytes.to = std::max(into.bytes.to, other.bytes.to);
  into.lines.first = std::min(into.lines.first, other.lines.first);
  into.lines.last = std::max(into.lines.last, other.lines.last);
  if (!into.end || (other.end && *other.end > *into.end)) into.end = other.end;
}

/// Joins every second span of the same source with the one before it.
void halve(std::vector<Span>& spans) {
  std::vector<Span> kept;
  kept.reserve(spans.size() / 2 + 1);
  bool joined_last = true;
  for (const Span& span : spans) {
    if (!joined_last && kept.back().source == span.source) {
      join(kept.back(), span);
      joined_last = true;
    } else {
      kept.push_back(span);
      joined_last = false;
    }
  }
  spans = std::move(kept);
}

}  // namespace

void SegmentIndex::add(const wire::Segment& segment) {
  const Span span{segment.source, segment.bytes, segment.lines, segment.end};
  for (const wire::EventCount& event : segment.events) {
    if (event.id.value() >= spans_.size()) spans_.resize(event.id.value() + 1);
    std::vector<Span>& list = spans_[event.id.value()];
    if (list.size() >= kSpansMax) halve(list);
    list.push_back(span);
  }
}

const std::vector<Span>& SegmentIndex::spans(LocalTemplateId id) const {
  static const std::vector<Span> kNone;
  return id.value() < spans_.size() ? spans_[id.value()] : kNone;
}

}  // namespace l4::recall
