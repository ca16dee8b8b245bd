// The rows of streams by the numbers of the job's iterations, also of ranks that print none.
//
// Place in the flow: detectors that compare ranks by iterations read rows through it. Ranks that
// print times in turn have rounds (Stream::beats); ranks that print both rounds and numbers tell
// which round belongs to which number, since training is synchronous. Pure; refers to the view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "aggregator/job/stream.h"
#include "common/base/ids.h"

namespace l4::job {

struct JobView;

/// The rows of one stream: its iterations, or its beats. `number = row * stride + shift`.
class NumberedRows {
 public:
  NumberedRows() = default;
  NumberedRows(const Iterations& rows, std::int64_t stride, std::int64_t shift)
      : rows_(&rows), stride_(stride), shift_(shift) {}

  std::size_t size() const { return rows_ == nullptr ? 0 : rows_->size(); }
  bool empty() const { return size() == 0; }
  const IterationRecord& record(std::size_t place) const { return (*rows_)[place].second; }
  Iteration number(std::size_t place) const {
    return Iteration{(*rows_)[place].first.value() * stride_ + shift_};
  }
  /// Place of the first row from `iteration` on; size() if there is none.
  std::size_t from(Iteration iteration) const;
  std::optional<std::size_t> find(Iteration iteration) const;

 private:
  const Iterations* rows_ = nullptr;
  std::int64_t stride_ = 1, shift_ = 0;
};

/// By JobView::streams; empty where no number is known.
using NumberedStreams = std::vector<NumberedRows>;
NumberedStreams number_streams(const JobView& view);

}  // namespace l4::job
