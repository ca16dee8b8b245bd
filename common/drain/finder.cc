#include "common/drain/finder.h"

#include "common/drain/mask.h"

namespace l4::drain {

std::optional<LocalTemplateId> Finder::find(std::string_view message, const Outline& outline) {
  if (outline.collapsed == 0) return miner_->find(message);
  if (const auto* known = known_.find(outline)) return *known;
  const auto find = [this](std::string_view line) { return miner_->find(line); };
  const auto id = find(message);
  known_.note(outline, message, id, find,
              [this](std::string_view line) { return may_hold_code(line, miner_->codes()); });
  return id;
}

}  // namespace l4::drain
