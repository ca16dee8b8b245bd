#include "agent/pipeline/forgotten_list.h"

#include <algorithm>
#include <utility>

namespace l4::pipeline {

void ForgottenList::add(const std::vector<LocalTemplateId>& ids) {
  const auto middle = static_cast<std::ptrdiff_t>(ids_.size());
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  std::ranges::inplace_merge(ids_, ids_.begin() + middle);
}

std::vector<LocalTemplateId> ForgottenList::take(
    std::span<const std::span<const wire::EventCount>> under_way, std::size_t size_max) {
  if (ids_.empty()) return {};
  std::vector<LocalTemplateId> held;
  for (const auto& events : under_way) {
    for (const wire::EventCount& event : events)
      if (std::ranges::binary_search(ids_, event.id)) held.push_back(event.id);
  }
  std::ranges::sort(held);
  std::vector<LocalTemplateId> taken, kept;
  for (const LocalTemplateId id : ids_) {
    const bool waits = taken.size() == size_max || std::ranges::binary_search(held, id);
    (waits ? kept : taken).push_back(id);
  }
  ids_ = std::move(kept);
  return taken;
}

}  // namespace l4::pipeline
