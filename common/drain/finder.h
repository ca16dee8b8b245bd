// Templates of many lines that were learned before: lines that differ in digits alone are masked
// once.
//
// Place in the flow: a recall reads stretches of files again and asks for each line's template
// (agent/node_agent.cc). One thread; the miner must outlive it and learn nothing meanwhile.
#pragma once

#include <optional>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/outline_memo.h"
#include "common/drain/template_miner.h"

namespace l4::drain {

class Finder {
 public:
  explicit Finder(const TemplateMiner& miner) : miner_(&miner) {}

  /// What miner.find(message) gives. `outline` of the message, empty if it is not known.
  std::optional<LocalTemplateId> find(std::string_view message, const Outline& outline);

 private:
  static constexpr std::size_t kOutlinesMax = 4096;

  const TemplateMiner* miner_;
  OutlineMemo<std::optional<LocalTemplateId>> known_{kOutlinesMax};
};

}  // namespace l4::drain
