// Spans of a template: all of them while they are few, joined ones afterwards, never fewer bytes.
#include "agent/recall/segment_index.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace l4::recall {
namespace {

wire::Segment segment(std::uint32_t source, std::uint64_t from, std::vector<std::uint32_t> ids) {
  wire::Segment made;
  made.source = SourceId{source};
  made.bytes = {from, from + 10};
  made.lines = {from / 10 + 1, from / 10 + 1};
  made.end = TimeMs{Millis{static_cast<std::int64_t>(from)}};
  for (const std::uint32_t id : ids) made.events.push_back({LocalTemplateId{id}, 1, 1, {}});
  return made;
}

TEST_CASE("a template's spans are the segments that hold it") {
  SegmentIndex index;
  index.add(segment(0, 0, {1, 2}));
  index.add(segment(1, 0, {2}));
  index.add(segment(0, 10, {1}));
  const auto sources = [&](std::uint32_t id) {
    std::vector<std::uint32_t> found;
    for (const Span& span : index.spans(LocalTemplateId{id})) found.push_back(span.source.value());
    std::ranges::sort(found);
    return found;
  };
  CHECK(sources(1) == std::vector<std::uint32_t>{0, 0});
  CHECK(sources(2) == std::vector<std::uint32_t>{0, 1});
  CHECK(sources(0).empty());
  CHECK(sources(1'000'000).empty());
}

TEST_CASE("however many there are, they stay few and cover each segment") {
  constexpr std::uint64_t kSegments = 20'000;
  SegmentIndex index;
  for (std::uint64_t i = 0; i < kSegments; ++i)
    index.add(segment(static_cast<std::uint32_t>(i / 5000), i * 10, {4}));
  const auto& spans = index.spans(LocalTemplateId{4});
  CHECK(spans.size() <= SegmentIndex::kSpansMax);
  std::uint64_t missing = 0;
  for (std::uint64_t i = 0; i < kSegments; ++i) {
    const wire::Segment wanted = segment(static_cast<std::uint32_t>(i / 5000), i * 10, {});
    const bool covered = std::ranges::any_of(spans, [&](const Span& span) {
      return span.source == wanted.source && span.bytes.from <= wanted.bytes.from &&
             span.bytes.to >= wanted.bytes.to && span.first_line <= wanted.lines.first &&
             (!span.end || *span.end >= *wanted.end);
    });
    if (!covered) ++missing;
  }
  CHECK(missing == 0);
}

}  // namespace
}  // namespace l4::recall
