// Where each template stands in the files: per template the segments that hold it.
//
// Place in the flow: filled by the agent as segments close; read when somebody asks for the lines
// of a template (agent/recall/recall.h). One per agent; no locks (written by the agent's thread,
// read after it has stopped or from the same thread).
// Bound: a template remembers at most kSpansMax spans; past that neighbouring spans are joined,
// so the index stays small and recall reads more bytes than it needs, never fewer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/wire/batch.h"

namespace l4::recall {

/// A piece of one source that holds a template at least once.
struct Span {
  SourceId source;
  wire::ByteRange bytes;
  wire::LineRange lines;
  std::optional<TimeMs> end;  ///< newest event time in it
};

class SegmentIndex {
 public:
  static constexpr std::size_t kSpansMax = 2048;

  void add(const wire::Segment& segment);
  /// Spans that may hold `id`; empty if it was never seen.
  const std::vector<Span>& spans(LocalTemplateId id) const;

 private:
  std::vector<std::vector<Span>> spans_;  // by template
};

}  // namespace l4::recall
