// Templates that the miner forgot and the aggregator has not been told of yet.
//
// Place in the flow: TemplateMiner::poll_forgotten() -> here -> wire::Batch::forgotten. An id is
// held back while a segment that was not shipped mentions it, so that a told id never comes again.
// One per agent, one thread. Bounded by what the miner forgets while segments are under way.
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
  /// Takes at most `size_max` ids that no segment under way mentions, ascending.
  std::vector<LocalTemplateId> take(std::span<const std::span<const wire::EventCount>> under_way,
                                    std::size_t size_max);

  bool empty() const { return ids_.empty(); }

 private:
  std::vector<LocalTemplateId> ids_;  // ascending
};

}  // namespace l4::pipeline
