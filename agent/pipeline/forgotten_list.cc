#include "agent/pipeline/forgotten_list.h"

#include <algorithm>
#include <utility>

namespace l4::pipeline {

void ForgottenList::add(const std::vector<LocalTemplateId>& ids) {
  const auto middle = static_cast<std::ptrdiff_t>(ids_.size());
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  std::ranges::inplace_merge(ids_, ids_.begin() + middle);
}

std::vector<LocalTemplateId> ForgottenList::release(
    std::span<const std::span<const wire::EventCount>> unshipped, std::size_t size_max) {
  if (ids_.empty()) return {};
  std::vector<LocalTemplateId> held;
  for (const auto& events : unshipped) {
    for (const wire::EventCount& event : events)
      if (std::ranges::binary_search(ids_, event.id)) held.push_back(event.id);
  }
  std::ranges::sort(held);
  std::vector<LocalTemplateId> released, kept;
  for (const LocalTemplateId id : ids_) {
    const bool waits = released.size() == size_max || std::ranges::binary_search(held, id);
    (waits ? kept : released).push_back(id);
  }
  ids_ = std::move(kept);
  return released;
}

}  // namespace l4::pipeline
