// Templates that the miner forgot and the aggregator has not been told of yet.
//
// Place in the flow: TemplateMiner::take_forgotten() -> here -> wire::Batch::forgotten. An id is
// held back while an open segment mentions it, so that a told id never comes again. One per agent,
// one thread. Bounded by what the miner forgets while segments are open.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "agent/segment/segmenter.h"
#include "common/base/ids.h"

namespace l4::agent {

class ForgottenList {
 public:
  /// `ids` ascend.
  void add(const std::vector<LocalTemplateId>& ids);
  /// Takes at most `size_max` ids that no open segment mentions, ascending. Closed sources are
  /// null.
  std::vector<LocalTemplateId> take(
      const std::vector<std::unique_ptr<segment::Segmenter>>& segmenters, std::size_t size_max);

  bool empty() const { return ids_.empty(); }

 private:
  std::vector<LocalTemplateId> ids_;  // ascending
};

}  // namespace l4::agent
