// Finds the spans of the files in which a template occurs.
//
// Place in the flow: the agent adds segments as they close; a recall (agent/recall/recall.h) reads
// the spans of a template. One per agent; no locks (the agent's thread writes; reads come from the
// same thread or after it has stopped).
// Successive segments of a source share a span of up to kSpanBytes; templates refer to spans by
// number. freeze() packs a span into some ten bytes and a reference into one or two.
// Bound: a template keeps at most kSpansMax spans, or four for each source that prints it. Beyond
// that, neighbouring spans of a source are joined: recall then reads more bytes than it needs, but
// misses none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/slim_optional.h"
#include "common/wire/batch.h"

namespace l4::recall {

/// A piece of one source in which a template occurs at least once.
struct Span {
  SourceId source;
  wire::ByteRange bytes;
  std::uint64_t first_line = 0;
  SlimTime end;  ///< newest event time in it
};

class SegmentIndex {
 public:
  static constexpr std::size_t kSpansMax = 2048;
  static constexpr std::uint64_t kSpanBytes = 64 * 1024;  ///< a longer segment has its own span

  /// `where`: for each event of the segment the bytes from its first to its last record. An event
  /// that occurs once in a segment longer than a span gets a span of that record alone.
  void add(const wire::Segment& segment, std::span<const wire::ByteRange> where);
  /// Drops templates or sources that will not be asked for any more.
  void forget(const std::vector<LocalTemplateId>& ids);
  void forget(const std::vector<SourceId>& sources);
  /// Spans that may hold `id`; empty if it was never seen.
  std::vector<Span> spans(LocalTemplateId id) const { return Reader(*this).spans(id); }

  /// Answers many questions and unpacks the index only once. The index must outlive the reader and
  /// must not change meanwhile.
  class Reader {
   public:
    explicit Reader(const SegmentIndex& index) : index_(&index), unpacked_(index.unpack()) {}
    std::vector<Span> spans(LocalTemplateId id) const;

   private:
    const SegmentIndex* index_;
    std::vector<Span> unpacked_;
  };

  /// Packs the index; nothing may be added afterwards.
  void freeze();

 private:
  struct Places {
    std::vector<std::uint32_t> in_spans;
    std::size_t room = kSpansMax;  ///< at this size neighbouring spans are joined
  };
  using Bytes = std::vector<std::uint8_t>;

  std::uint32_t place_of(const wire::Segment& segment);
  void add_place(LocalTemplateId id, std::uint32_t place);
  void sort(std::vector<std::uint32_t>& places) const;
  bool is_gone(std::uint32_t place) const;
  void halve(Places& places);
  void sweep();
  std::vector<Span> unpack() const;

  std::vector<Span> spans_;
  std::unordered_map<std::uint32_t, Places> places_;  // by template
  std::vector<std::uint32_t> last_;                   // index of a source's last span, by source
  std::vector<bool> gone_;                            // by source: true if it was forgotten
  std::size_t swept_size_ = 0;                        // size of spans_ after the last sweep
  bool joined_ = false;                               // some spans may have no reference left

  Bytes packed_spans_;
  Bytes packed_places_;
  std::vector<std::uint32_t> packed_ids_;  // templates, ascending
  std::vector<std::uint32_t> place_ends_;  // ends in packed_places_, by packed_ids_
};

}  // namespace l4::recall
