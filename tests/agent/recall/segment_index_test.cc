#include "agent/recall/segment_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace l4::recall {
namespace {

wire::Segment segment(std::uint32_t number, std::vector<std::uint32_t> templates) {
  wire::Segment made;
  made.source = SourceId{number / 7000};
  made.bytes = {number * 100, number * 100 + 90};
  made.lines = {number * 10 + 1, number * 10 + 9};
  if (number % 4 != 0) made.end = TimeMs{Millis{1'700'000'000'000 - number}};
  for (const std::uint32_t id : templates)
    made.events.push_back({LocalTemplateId{id}, 1, made.lines.first, {}});
  return made;
}

bool equal(const std::vector<Span>& a, const std::vector<Span>& b) {
  return std::ranges::equal(a, b, [](const Span& x, const Span& y) {
    return x.source == y.source && x.bytes == y.bytes && x.first_line == y.first_line &&
           x.end == y.end;
  });
}

}  // namespace

TEST_CASE("a frozen index answers as before") {
  SegmentIndex index;
  for (std::uint32_t i = 0; i < 20'000; ++i)
    index.add(segment(i, i % 50 == 0 ? std::vector{1u, i % 9 + 4} : std::vector{1u}));
  std::vector<std::vector<Span>> before;
  for (std::uint32_t id = 0; id < 20; ++id) before.push_back(index.spans(LocalTemplateId{id}));
  CHECK(before[0].empty());
  CHECK(before[1].size() <= SegmentIndex::kSpansMax);
  CHECK(!before[4].empty());
  index.freeze();
  for (std::uint32_t id = 0; id < 20; ++id)
    CHECK(equal(index.spans(LocalTemplateId{id}), before[id]));
}

TEST_CASE("joined spans cover every segment") {
  SegmentIndex index;
  constexpr std::uint32_t kSegments = 9000;
  for (std::uint32_t i = 0; i < kSegments; ++i) {
    wire::Segment one = segment(i, {0});
    one.source = SourceId{0};
    index.add(one);
  }
  std::uint64_t covered_to = 0;
  for (const Span& span : index.spans(LocalTemplateId{0})) {
    CHECK(span.bytes.from <= covered_to + 10);
    covered_to = span.bytes.to;
  }
  CHECK(covered_to == (kSegments - 1) * 100 + 90);
}

}  // namespace l4::recall
