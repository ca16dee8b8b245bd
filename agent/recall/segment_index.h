// Where each template stands in the files: per template the segments that hold it.
//
// Place in the flow: filled by the agent as segments close; read when somebody asks for the lines
// of a template (agent/recall/recall.h). One per agent; no locks (written by the agent's thread,
// read after it has stopped or from the same thread).
// Segments of a source that follow each other share a span of up to kSpanBytes, which is kept once;
// a template refers to it by number. freeze() packs both to some ten bytes a span and one or two a
// reference.
// Bound: a template remembers at most kSpansMax spans, or four for each source that says it; past
// that neighbouring spans of a source are joined, so the index stays small and recall reads more
// bytes than it needs, never fewer.
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

/// A piece of one source that holds a template at least once.
struct Span {
  SourceId source;
  wire::ByteRange bytes;
  std::uint64_t first_line = 0;
  SlimTime end;  ///< newest event time in it
};

class SegmentIndex {
 public:
  static constexpr std::size_t kSpansMax = 2048;
  static constexpr std::uint64_t kSpanBytes = 64 * 1024;  ///< a longer segment has one of its own

  /// `where`: for each event of the segment the bytes from its first to its last record. What
  /// stands once in a segment that is longer than a span is known to the record.
  void add(const wire::Segment& segment, std::span<const wire::ByteRange> where);
  /// Nobody will ask for these any more.
  void forget(const std::vector<LocalTemplateId>& ids);
  void forget(const std::vector<SourceId>& sources);
  /// Spans that may hold `id`; empty if it was never seen.
  std::vector<Span> spans(LocalTemplateId id) const { return Reader(*this).spans(id); }

  /// For many questions: what is packed is unpacked once. The index must outlive it and stay as it
  /// is.
  class Reader {
   public:
    explicit Reader(const SegmentIndex& index) : index_(&index), unpacked_(index.unpack()) {}
    std::vector<Span> spans(LocalTemplateId id) const;

   private:
    const SegmentIndex* index_;
    std::vector<Span> unpacked_;
  };

  /// Nothing more will be added: packs what is there.
  void freeze();

 private:
  struct Places {
    std::vector<std::uint32_t> in_spans;
    std::size_t room = kSpansMax;  ///< when it is halved
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
  std::vector<std::uint32_t> last_;                   // place of its last span, by source
  std::vector<bool> gone_;                            // by source: it is forgotten
  std::size_t swept_size_ = 0;                        // of spans_, after the last sweep
  bool joined_ = false;                               // some spans may be referred to no more

  Bytes packed_spans_;
  Bytes packed_places_;
  std::vector<std::uint32_t> packed_ids_;  // templates, ascending
  std::vector<std::uint32_t> place_ends_;  // in packed_places_, by packed_ids_
};

}  // namespace l4::recall
