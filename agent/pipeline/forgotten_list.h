// Templates that the miner forgot and no batch has reported yet.
//
// Place in the flow: TemplateMiner::poll_forgotten() -> here -> wire::Batch::forgotten. An id is
// held back while an unshipped segment mentions it, so that no batch mentions an id after it was
// reported. One per agent, one thread. Bounded by the ids that the miner forgets while segments
// wait to be shipped.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/wire/batch.h"

namespace l4::pipeline {

class ForgottenList {
 public:
  /// `ids` ascend.
  void add(const std::vector<LocalTemplateId>& ids);
  /// Removes and returns at most `size_max` ids that no unshipped segment mentions, ascending.
  std::vector<LocalTemplateId> release(std::span<const std::span<const wire::EventCount>> unshipped,
                                       std::size_t size_max);

  bool empty() const { return ids_.empty(); }

 private:
  std::vector<LocalTemplateId> ids_;  // ascending
};

}  // namespace l4::pipeline
