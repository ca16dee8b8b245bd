#include "common/drain/finder.h"

#include "common/drain/mask.h"

namespace l4::drain {

std::optional<LocalTemplateId> Finder::find(std::string_view message, const Outline& outline) {
  return known_.get(
      outline, message, [this](std::string_view line) { return miner_->find(line); },
      [this](std::string_view line) { return may_hold_code(line, miner_->codes()); });
}

}  // namespace l4::drain
