// Finds the templates of many lines without learning; lines that differ in digits alone are masked
// once.
//
// Place in the flow: a recall reads ranges of files again and asks for each line's template
// (agent/node_agent.cc). One thread; the miner must outlive the finder and must not learn
// meanwhile.
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

  /// Returns the result of miner.find(message). `outline`: the message's, or empty if not known.
  std::optional<LocalTemplateId> find(std::string_view message, const Outline& outline);

 private:
  static constexpr std::size_t kOutlinesMax = 4096;

  const TemplateMiner* miner_;
  OutlineMemo<std::optional<LocalTemplateId>> known_{kOutlinesMax};
};

}  // namespace l4::drain
