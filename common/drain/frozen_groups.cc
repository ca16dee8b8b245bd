#include "common/drain/frozen_groups.h"

#include <algorithm>
#include <span>

namespace l4::drain {

std::optional<GroupId> FrozenGroups::find(const Row& row) const {
  const auto owner = frames.find(frame_of(row));
  if (!owner) return std::nullopt;
  const Variants* known = variants.find(*owner);
  if (known == nullptr) return std::nullopt;
  const std::span open(opened.data() + known->opened, known->opened_size);
  std::uint64_t projection = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!std::ranges::binary_search(open, i)) projection += placed(row[i].id, i);
  }
  const std::span of_class(groups.data() + known->first, known->size);
  const auto at = std::ranges::lower_bound(of_class, projection, {}, &Group::projection);
  if (at == of_class.end() || at->projection != projection) return std::nullopt;
  return at->id;
}

}  // namespace l4::drain
