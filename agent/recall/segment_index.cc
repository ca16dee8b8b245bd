#include "agent/recall/segment_index.h"

#include <algorithm>
#include <tuple>

#include "agent/recall/varint.h"
#include "common/base/check.h"
#include "common/base/earliest.h"

namespace l4::recall {
namespace {

constexpr std::size_t kSweepMin = 4096;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

void join(Span& into, const Span& other) {
  into.bytes.from = std::min(into.bytes.from, other.bytes.from);
  into.bytes.to = std::max(into.bytes.to, other.bytes.to);
  into.first_line = std::min(into.first_line, other.first_line);
  keep_latest(into.end, other.end);
}

std::uint64_t number_of(SlimTime time) {
  return static_cast<std::uint64_t>((*time).time_since_epoch().count());
}

/// Packs `span` as differences to `before`, the span that was packed last.
void append_span(std::vector<std::uint8_t>& out, const Span& before, const Span& span) {
  append_delta(out, before.source.value(), span.source.value());
  append_delta(out, before.bytes.to, span.bytes.from);
  append_delta(out, span.bytes.from, span.bytes.to);
  append_delta(out, before.first_line, span.first_line);
  append_delta(out, number_of(before.end), number_of(span.end));
}

Span read_span(const std::uint8_t*& at, const Span& before) {
  Span span;
  span.source = SourceId{static_cast<std::uint32_t>(read_delta(at, before.source.value()))};
  span.bytes.from = read_delta(at, before.bytes.to);
  span.bytes.to = read_delta(at, span.bytes.from);
  span.first_line = read_delta(at, before.first_line);
  const std::uint64_t end = read_delta(at, number_of(before.end));
  span.end = SlimTime(TimeMs{Millis{static_cast<std::int64_t>(end)}});
  return span;
}

}  // namespace

/// Index of the source's last span if the segment fits into it, else of a new span.
std::uint32_t SegmentIndex::place_of(const wire::Segment& segment) {
  const std::size_t source = segment.source.value();
  if (source >= last_.size()) last_.resize(source + 1, kNone);
  const Span own{segment.source, segment.bytes, segment.lines.first, segment.end};
  if (std::uint32_t last = last_[source]; last != kNone) {
    const wire::ByteRange known = spans_[last].bytes;
    if (known.from <= own.bytes.from && own.bytes.to <= known.from + kSpanBytes) {
      join(spans_[last], own);
      return last;
    }
  }
  last_[source] = static_cast<std::uint32_t>(spans_.size());
  spans_.push_back(own);
  return last_[source];
}

void SegmentIndex::add_place(LocalTemplateId id, std::uint32_t place) {
  Places& places = places_[id.value()];
  if (!places.in_spans.empty() && places.in_spans.back() == place) return;
  if (places.in_spans.size() >= places.room) halve(places);
  places.in_spans.push_back(place);
}

void SegmentIndex::add(const wire::Segment& segment, std::span<const wire::ByteRange> where) {
  // Its line is that of the bar before it, and its bytes are those of the record behind it.
  if (segment.events.empty()) return;
  const std::uint32_t place = place_of(segment);
  const bool is_long = segment.bytes.to - segment.bytes.from > kSpanBytes;
  for (std::size_t i = 0; i < segment.events.size(); ++i) {
    const wire::EventCount& event = segment.events[i];
    if (!is_long || event.count > 1) {
      add_place(event.id, place);
      continue;
    }
    L4_CHECK(i < where.size(), "a segment of {} events has ranges for {}", segment.events.size(),
             where.size());
    const auto own = static_cast<std::uint32_t>(spans_.size());
    spans_.push_back({segment.source, where[i], event.first_line,
                      event.first_time ? event.first_time : segment.end});
    add_place(event.id, own);
  }
  if (joined_ && spans_.size() > std::max(kSweepMin, 2 * swept_size_)) sweep();
}

void SegmentIndex::forget(const std::vector<LocalTemplateId>& ids) {
  for (const LocalTemplateId id : ids)
    if (places_.erase(id.value()) > 0) joined_ = true;
}

void SegmentIndex::forget(const std::vector<SourceId>& sources) {
  for (const SourceId source : sources) {
    if (source.value() >= gone_.size()) gone_.resize(source.value() + 1);
    gone_[source.value()] = joined_ = true;
  }
}

bool SegmentIndex::is_gone(std::uint32_t place) const {
  const std::uint32_t source = spans_[place].source.value();
  return source < gone_.size() && gone_[source];
}

/// Sorts by source and byte, and removes duplicates.
void SegmentIndex::sort(std::vector<std::uint32_t>& places) const {
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(spans_[a].source, spans_[a].bytes.from, a) <
           std::tuple(spans_[b].source, spans_[b].bytes.from, b);
  };
  if (!std::ranges::is_sorted(places, before)) std::ranges::sort(places, before);
  const auto repeated = std::ranges::unique(places);
  places.erase(repeated.begin(), repeated.end());
}

/// Joins every second span with its predecessor of the same source. The room grows if the sources
/// alone need more than kSpansMax spans.
void SegmentIndex::halve(Places& places) {
  std::vector<std::uint32_t>& all = places.in_spans;
  std::erase_if(all, [this](std::uint32_t place) { return is_gone(place); });
  sort(all);
  if (all.size() <= kSpansMax / 2) return;
  std::vector<std::uint32_t> kept;
  kept.reserve(all.size());
  bool joined_last = true;
  for (const std::uint32_t place : all) {
    if (!joined_last && spans_[kept.back()].source == spans_[place].source) {
      Span both = spans_[kept.back()];
      join(both, spans_[place]);
      kept.back() = static_cast<std::uint32_t>(spans_.size());
      spans_.push_back(both);
      joined_last = true;
    } else {
      kept.push_back(place);
      joined_last = false;
    }
  }
  all = std::move(kept);
  places.room = std::max(kSpansMax, 2 * all.size());
  joined_ = true;
}

/// Drops the spans that no template refers to.
void SegmentIndex::sweep() {
  std::vector<std::uint32_t> moved(spans_.size(), kNone);
  for (auto& [id, places] : places_) {
    std::erase_if(places.in_spans, [this](std::uint32_t place) { return is_gone(place); });
    for (const std::uint32_t place : places.in_spans) moved[place] = 0;
  }
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (moved[i] == kNone) continue;
    spans_[kept] = spans_[i];
    moved[i] = kept++;
  }
  spans_.resize(kept);
  for (auto& [id, places] : places_)
    for (std::uint32_t& place : places.in_spans) place = moved[place];
  for (std::uint32_t& place : last_)
    if (place != kNone) place = moved[place];
  swept_size_ = kept;
}

void SegmentIndex::freeze() {
  for (auto& [id, places] : places_) sort(places.in_spans);
  if (joined_) sweep();
  Span before;
  for (const Span& span : spans_) {
    append_span(packed_spans_, before, span);
    before = span;
  }
  for (const auto& [id, places] : places_) packed_ids_.push_back(id);
  std::ranges::sort(packed_ids_);
  packed_ids_.shrink_to_fit();
  for (const std::uint32_t id : packed_ids_) {
    std::uint32_t last = 0;
    for (const std::uint32_t place : places_.at(id).in_spans) {
      append_delta(packed_places_, last, place);
      last = place;
    }
    place_ends_.push_back(static_cast<std::uint32_t>(packed_places_.size()));
  }
  packed_spans_.shrink_to_fit();
  packed_places_.shrink_to_fit();
  place_ends_.shrink_to_fit();
  spans_ = std::vector<Span>();
  last_ = std::vector<std::uint32_t>();
  places_ = std::unordered_map<std::uint32_t, Places>();
}

std::vector<Span> SegmentIndex::unpack() const {
  std::vector<Span> spans;
  const std::uint8_t* at = packed_spans_.data();
  const std::uint8_t* const end = at + packed_spans_.size();
  for (Span before; at != end; before = spans.back()) spans.push_back(read_span(at, before));
  return spans;
}

std::vector<Span> SegmentIndex::Reader::spans(LocalTemplateId id) const {
  const SegmentIndex& index = *index_;
  std::vector<Span> found;
  if (const auto known = index.places_.find(id.value()); known != index.places_.end()) {
    std::vector<std::uint32_t> places = known->second.in_spans;
    std::erase_if(places, [&](std::uint32_t place) { return index.is_gone(place); });
    index.sort(places);
    for (const std::uint32_t place : places) found.push_back(index.spans_[place]);
  }
  const auto packed = std::ranges::lower_bound(index.packed_ids_, id.value());
  if (packed == index.packed_ids_.end() || *packed != id.value()) return found;
  const auto number = static_cast<std::size_t>(packed - index.packed_ids_.begin());
  const std::size_t from = number == 0 ? 0 : index.place_ends_[number - 1];
  const std::uint8_t* at = index.packed_places_.data() + from;
  const std::uint8_t* const end = index.packed_places_.data() + index.place_ends_[number];
  for (std::uint64_t place = 0; at != end;) {
    place = read_delta(at, place);
    found.push_back(unpacked_[place]);
  }
  return found;
}

}  // namespace l4::recall
