#include "agent/recall/segment_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace l4::recall {
namespace {

wire::Segment segment(std::uint32_t number, std::vector<std::uint32_t> templates) {
  wire::Segment made;
  made.source = SourceId{number / 7000};
  made.bytes = {number * 10'000, number * 10'000 + 9'000};  // each in a span of its own
  made.lines = {number * 10 + 1, number * 10 + 9};
  if (number % 4 != 0) made.end = TimeMs{Millis{1'700'000'000'000 - number}};
  for (const std::uint32_t id : templates)
    made.events.push_back({LocalTemplateId{id}, 1, made.lines.first, {}});
  return made;
}

void add(SegmentIndex& index, const wire::Segment& segment) {
  index.add(segment, std::vector<wire::ByteRange>(segment.events.size(), segment.bytes));
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
    add(index, segment(i, i % 50 == 0 ? std::vector{1u, i % 9 + 4} : std::vector{1u}));
  std::vector<std::vector<Span>> before;
  for (std::uint32_t id = 0; id < 20; ++id) before.push_back(index.spans(LocalTemplateId{id}));
  CHECK(before[0].empty());
  CHECK(before[1].size() <= SegmentIndex::kSpansMax);
  CHECK(!before[4].empty());
  index.freeze();
  for (std::uint32_t id = 0; id < 20; ++id)
    CHECK(equal(index.spans(LocalTemplateId{id}), before[id]));
}

TEST_CASE("a segment without events moves no line number") {
  SegmentIndex index;
  wire::Segment bar = segment(1, {});  // completed by a bar that shares its line with a record
  bar.bytes.to = bar.bytes.from;
  bar.lines = {10, 10};
  wire::Segment behind = segment(1, {5});
  add(index, bar);
  add(index, behind);
  const std::vector<Span> spans = index.spans(LocalTemplateId{5});
  REQUIRE(spans.size() == 1);
  CHECK(spans.front().first_line == behind.lines.first);
}

TEST_CASE("joined spans cover every segment") {
  SegmentIndex index;
  constexpr std::uint32_t kSegments = 9000;
  for (std::uint32_t i = 0; i < kSegments; ++i) {
    wire::Segment one = segment(i, {0});
    one.source = SourceId{0};
    add(index, one);
  }
  std::uint64_t covered_to = 0;
  for (const Span& span : index.spans(LocalTemplateId{0})) {
    CHECK(span.bytes.from <= covered_to + 1'000);
    covered_to = span.bytes.to;
  }
  CHECK(covered_to == (kSegments - 1) * 10'000 + 9'000);
}

TEST_CASE("short segments of a source share a span") {
  SegmentIndex index;
  constexpr std::uint32_t kSegments = 1000;
  for (std::uint32_t i = 0; i < kSegments; ++i) {
    wire::Segment one = segment(0, i == 500 ? std::vector{1u, 2u} : std::vector{1u});
    one.source = SourceId{i % 2};  // two speakers take turns
    one.bytes = {i * 100, i * 100 + 90};
    one.lines = {i + 1, i + 1};
    add(index, one);
  }
  const std::vector<Span> all = index.spans(LocalTemplateId{1});
  CHECK(all.size() <= 2 * (kSegments * 100 / SegmentIndex::kSpanBytes + 1));
  const std::vector<Span> one = index.spans(LocalTemplateId{2});
  REQUIRE(one.size() == 1);
  CHECK(one[0].source == SourceId{0});
  CHECK(one[0].bytes.from <= 500 * 100);
  CHECK(one[0].bytes.to >= 500 * 100 + 90);
  CHECK(one[0].first_line == one[0].bytes.from / 100 + 1);
}

TEST_CASE("a template that occurs once in a long segment gets a span of its record") {
  SegmentIndex index;
  wire::Segment one = segment(0, {1, 2});
  one.bytes = {0, 4'000'000};
  one.events[0].count = 90'000;
  one.events[1].first_line = 47'001;
  index.add(one, std::vector<wire::ByteRange>{{0, 4'000'000}, {2'000'000, 2'000'080}});
  const std::vector<Span> rare = index.spans(LocalTemplateId{2});
  REQUIRE(rare.size() == 1);
  CHECK(rare[0].bytes == wire::ByteRange{2'000'000, 2'000'080});
  CHECK(rare[0].first_line == 47'001);
  const std::vector<Span> common = index.spans(LocalTemplateId{1});
  REQUIRE(common.size() == 1);
  CHECK(common[0].bytes == one.bytes);
}

TEST_CASE("sources that take turns leave each its spans, and those that are forgotten none") {
  SegmentIndex index;
  constexpr std::uint32_t kSources = 3000, kTurns = 12;
  for (std::uint32_t i = 0; i < kSources * kTurns; ++i) {
    wire::Segment one = segment(i, {1});
    one.source = SourceId{i % kSources};
    one.bytes = {std::uint64_t{i} * 100'000, std::uint64_t{i} * 100'000 + 90'000};
    add(index, one);
  }
  std::vector<std::uint64_t> from(kSources, ~std::uint64_t{0}), to(kSources);
  const std::vector<Span> all = index.spans(LocalTemplateId{1});
  CHECK(all.size() <= 4 * kSources);
  for (const Span& span : all) {
    const std::uint32_t source = span.source.value();
    from[source] = std::min(from[source], span.bytes.from);
    to[source] = std::max(to[source], span.bytes.to);
  }
  for (std::uint32_t source = 0; source < kSources; ++source) {
    REQUIRE(from[source] == std::uint64_t{source} * 100'000);
    REQUIRE(to[source] == (std::uint64_t{source} + kSources * (kTurns - 1)) * 100'000 + 90'000);
  }

  std::vector<SourceId> old;
  for (std::uint32_t source = 100; source < kSources; ++source) old.emplace_back(source);
  index.forget(old);
  const auto is_left = [](const Span& span) { return span.source.value() < 100; };
  CHECK(std::ranges::all_of(index.spans(LocalTemplateId{1}), is_left));
  index.freeze();
  const std::vector<Span> left = index.spans(LocalTemplateId{1});
  CHECK(left.size() >= 100);
  CHECK(std::ranges::all_of(left, is_left));
}

}  // namespace l4::recall
