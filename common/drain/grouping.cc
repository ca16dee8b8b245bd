#include "common/drain/grouping.h"

#include <algorithm>
#include <utility>

namespace l4::drain {
namespace {

template <class Positions>
std::uint64_t project(const Row& row, const Positions& positions) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!positions[i].open) sum += placed(row[i].id, i);
  }
  return sum;
}

}  // namespace

GroupId Grouping::insert(const Row& row, bool general) {
  const Row frame = frame_of(row);
  general = general && words_of(frame) > 0;
  ClassId owner = frames_.insert(frame, general);
  bool opened = adopt_merged();
  {
    Variants& seen = variants_[owner];
    seen.positions.resize(row.size());
    opened = see(seen, row, general) || opened;
    if (opened) owner = frames_.generalise(owner);
  }
  opened = adopt_merged() || opened;
  Variants& variants = variants_.at(owner);
  if (opened) {
    // Notes the values before a group holds the row, so that a merge does not move them.
    see(variants, row, general);
    regroup(variants);
  }
  const auto [at, created] = variants.groups.try_emplace(project(row, variants.positions), next_);
  if (created) groups_.emplace(next_++, Group{PackedRow(row), owner});
  return at->second;
}

std::optional<GroupId> Grouping::find(const Row& row) const {
  const auto owner = frames_.find(frame_of(row));
  if (!owner) return std::nullopt;
  const auto variants = variants_.find(*owner);
  if (variants == variants_.end()) return std::nullopt;
  const auto group = variants->second.groups.find(project(row, variants->second.positions));
  if (group == variants->second.groups.end()) return std::nullopt;
  return group->second;
}

/// Notes the values of a row; true if a position became open.
bool Grouping::see(Variants& variants, const Row& row, bool general) const {
  bool opened = false;
  const auto size = static_cast<std::uint32_t>(row.size());
  for (std::uint32_t i = 0; i < size; ++i) {
    Position& position = variants.positions[i];
    if (position.open) continue;
    const OtherValue value{i, row[i].id};
    bool several = false;
    if (position.weight == 0) {
      position.first = row[i].id;
      position.weight = evidence(row[i]);
    } else if (position.first != row[i].id) {
      several = true;
      if (std::ranges::find(variants.others, value) == variants.others.end()) {
        variants.others.push_back(value);
        position.weight += evidence(row[i]);
      }
    }
    const bool enough = several && position.weight >= options_.values_min;
    if (!enough && !(general && is_general(row[i]))) continue;
    position.open = opened = true;
    std::erase_if(variants.others, [i](const OtherValue& other) { return other.position == i; });
  }
  return opened;
}

/// Moves the groups of merged classes to their new class; true if there are any.
bool Grouping::adopt_merged() {
  bool merged = false;
  for (const FrameSet::Merge& merge : frames_.poll_merges()) {
    merged = adopt(merge.from, merge.to) || merged;
  }
  return merged;
}

bool Grouping::adopt(ClassId from, ClassId to) {
  const auto at = variants_.find(from);
  if (at == variants_.end()) return false;
  const Variants old = std::move(at->second);
  variants_.erase(at);
  Variants& variants = variants_[to];
  variants.positions.resize(old.positions.size());
  for (std::size_t i = 0; i < old.positions.size(); ++i) {
    variants.positions[i].open = variants.positions[i].open || old.positions[i].open;
  }
  std::erase_if(variants.others,
                [&](const OtherValue& other) { return variants.positions[other.position].open; });
  for (const auto& [projection, id] : old.groups) {
    Group& group = groups_.at(id);
    group.owner = to;
    // The rows of its groups show every value of a closed position.
    see(variants, group.row.row(), false);
    const auto [place, created] = variants.groups.try_emplace(projection, id);
    if (!created) place->second = unite(place->second, id);
  }
  return true;
}

/// Forms the groups again after a position became open.
void Grouping::regroup(Variants& variants) {
  std::unordered_map<std::uint64_t, GroupId> groups;
  for (const auto& [projection, id] : variants.groups) {
    const auto [at, created] =
        groups.try_emplace(project(groups_.at(id).row.row(), variants.positions), id);
    if (!created) at->second = unite(at->second, id);
    changed_.push_back(at->second);
  }
  variants.groups = std::move(groups);
}

GroupId Grouping::unite(GroupId a, GroupId b) {
  if (b < a) std::swap(a, b);
  groups_.erase(b);
  merges_.push_back({b, a});
  return a;
}

Row Grouping::template_of(GroupId id) const {
  const Group& group = groups_.at(id);
  const Variants& variants = variants_.at(group.owner);
  const Row frame = frames_.joined(group.owner);
  Row row = group.row.row();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (variants.positions[i].open) row[i] = is_general(frame[i]) ? frame[i] : parent(row[i]);
  }
  return row;
}

std::vector<Grouping::Merge> Grouping::poll_merges() {
  return std::exchange(merges_, {});
}

std::vector<GroupId> Grouping::poll_changed() {
  return std::exchange(changed_, {});
}

FrozenGroups Grouping::freeze() {
  FrozenGroups frozen;
  std::vector<std::pair<ClassId, FrozenGroups::Variants>> classes;
  for (const auto& [owner, known] : variants_) {
    FrozenGroups::Variants kept;
    kept.first = static_cast<std::uint32_t>(frozen.groups.size());
    kept.size = static_cast<std::uint32_t>(known.groups.size());
    kept.opened = static_cast<std::uint32_t>(frozen.opened.size());
    for (const auto& [projection, id] : known.groups) frozen.groups.push_back({projection, id});
    std::ranges::sort(frozen.groups.begin() + kept.first, frozen.groups.end(), {},
                      &FrozenGroups::Group::projection);
    for (std::size_t i = 0; i < known.positions.size(); ++i) {
      if (known.positions[i].open) frozen.opened.push_back(static_cast<std::uint16_t>(i));
    }
    kept.opened_size = static_cast<std::uint32_t>(frozen.opened.size()) - kept.opened;
    classes.emplace_back(owner, kept);
  }
  frozen.groups.shrink_to_fit();
  frozen.opened.shrink_to_fit();
  frozen.variants = SortedTable(std::move(classes));
  frozen.frames = frames_.freeze();
  *this = Grouping(options_);
  return frozen;
}

void Grouping::forget(const std::vector<GroupId>& sorted) {
  const auto dead = [&](GroupId id) { return std::ranges::binary_search(sorted, id); };
  std::vector<ClassId> empty;
  for (auto& [owner, variants] : variants_) {
    std::erase_if(variants.groups, [&](const auto& entry) { return dead(entry.second); });
    if (variants.groups.empty()) empty.push_back(owner);
  }
  for (const ClassId owner : empty) variants_.erase(owner);
  for (const GroupId id : sorted) groups_.erase(id);
  std::ranges::sort(empty);
  frames_.forget(empty);
}

}  // namespace l4::drain
