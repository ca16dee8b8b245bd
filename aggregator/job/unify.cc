#include "aggregator/job/unify.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/drain/hash.h"
#include "common/drain/row.h"

namespace l4::job {
namespace {

constexpr std::size_t kRowsMax = 8'000'000;

std::uint64_t key_of(LocalTemplateId id) {
  return drain::placed(id.value(), 0);
}

std::uint64_t hash(const wire::TemplateDefinition& definition) {
  std::uint64_t sum = drain::hash_token(definition.text.data(), definition.text.size());
  sum = drain::fold(sum ^ static_cast<std::uint64_t>(definition.level), drain::kHashB);
  for (const Skeleton skeleton : definition.skeletons) {
    sum = drain::fold(sum ^ skeleton.value(), drain::kHashC);
  }
  return sum;
}

}  // namespace

TemplateTable::TemplateTable() : grouping_({.rows_max = kRowsMax}) {}

void TemplateTable::define(std::uint32_t node, const wire::TemplateDefinition& definition) {
  if (node >= locals_.size()) locals_.resize(node + 1);
  if (!definition.skeletons.empty()) {
    const Element element = element_of_text(definition);
    if (const Element* known = locals_[node].find(key_of(definition.id)); known != nullptr) {
      unite(*known, element);
    } else {
      locals_[node][key_of(definition.id)] = element;
    }
  }
  if (definition.alias_of) {
    const Element target = element_of_local(node, *definition.alias_of);
    unite(element_of_local(node, definition.id), target);
  }
}

TemplateId TemplateTable::resolve(std::uint32_t node, LocalTemplateId id) const {
  if (node >= locals_.size()) return TemplateId(0);
  const Element* element = locals_[node].find(key_of(id));
  return element != nullptr ? classes_.at(root(*element)).id : TemplateId(0);
}

TemplateId TemplateTable::canonical(TemplateId id) const {
  const Class* known = find(id);
  return known != nullptr ? known->id : id;
}

std::string TemplateTable::text(TemplateId id) const {
  const Class* known = find(id);
  if (known == nullptr) return {};
  std::string best;
  std::size_t best_wilds = 0;
  for (const drain::GroupId group : known->groups) {
    const drain::Row row = grouping_.template_of(group);
    const auto wilds = static_cast<std::size_t>(std::ranges::count_if(row, drain::is_general));
    std::string shown = drain::text(row);
    if (best.empty() || wilds > best_wilds || (wilds == best_wilds && shown < best)) {
      best = std::move(shown);
      best_wilds = wilds;
    }
  }
  return best;
}

Level TemplateTable::level(TemplateId id) const {
  const Class* known = find(id);
  return known != nullptr ? known->level : Level::unknown;
}

std::vector<TemplateId> TemplateTable::all() const {
  std::vector<TemplateId> ids;
  for (const auto& [element, known] : classes_) {
    if (known.id != TemplateId(0)) ids.push_back(known.id);
  }
  std::ranges::sort(ids);
  return ids;
}

std::size_t TemplateTable::size() const {
  return all().size();
}

std::vector<TemplateTable::Rename> TemplateTable::take_renames() {
  return std::exchange(renames_, {});
}

const TemplateTable::Class* TemplateTable::find(TemplateId id) const {
  const Element* element = skeleton_elements_.find(id.value());
  return element != nullptr ? &classes_.at(root(*element)) : nullptr;
}

TemplateTable::Element TemplateTable::new_element() {
  const auto element = static_cast<Element>(parents_.size());
  parents_.push_back(element);
  classes_.try_emplace(element);
  return element;
}

TemplateTable::Element TemplateTable::element_of_local(std::uint32_t node, LocalTemplateId id) {
  if (const Element* known = locals_[node].find(key_of(id)); known != nullptr) return *known;
  return locals_[node][key_of(id)] = new_element();
}

/// Element of a text and all its skeletons; nodes that say the same again cost one look-up.
TemplateTable::Element TemplateTable::element_of_text(const wire::TemplateDefinition& definition) {
  const std::uint64_t key = hash(definition);
  if (const Element* known = known_.find(key); known != nullptr) return *known;
  const bool general = definition.skeletons.size() > 1;
  const drain::GroupId group = grouping_.insert(drain::row_of_text(definition.text), general);
  for (const drain::Grouping::Merge& merge : grouping_.take_merges()) {
    const auto from = group_elements_.find(merge.from);
    if (from == group_elements_.end()) continue;
    std::erase(classes_.at(root(from->second)).groups, merge.from);
    unite(from->second, group_elements_.at(merge.to));
    group_elements_.erase(merge.from);
  }
  grouping_.take_changed();
  const auto [at, created] = group_elements_.try_emplace(group, kNone);
  if (created) {
    at->second = new_element();
    classes_.at(at->second).groups.push_back(group);
  }
  Element element = root(at->second);
  for (const Skeleton skeleton : definition.skeletons) {
    const TemplateId id(skeleton.value());
    if (const Element* known = skeleton_elements_.find(id.value()); known != nullptr) {
      element = unite(element, *known);
    } else {
      skeleton_elements_[id.value()] = element;
      give_id(classes_.at(element), id);
    }
  }
  Class& defined = classes_.at(element);
  defined.level = std::max(defined.level, definition.level);
  return known_[key] = element;
}

void TemplateTable::give_id(Class& known, TemplateId id) {
  if (known.id != TemplateId(0) && known.id <= id) return;
  if (known.id != TemplateId(0)) renames_.push_back({known.id, id});
  known.id = id;
}

TemplateTable::Element TemplateTable::root(Element element) const {
  while (parents_[element] != element) element = parents_[element];
  return element;
}

TemplateTable::Element TemplateTable::unite(Element a, Element b) {
  a = root(a);
  b = root(b);
  if (a == b) return a;
  if (b < a) std::swap(a, b);
  const Class merged = std::move(classes_.at(b));
  classes_.erase(b);
  parents_[b] = a;
  Class& kept = classes_.at(a);
  kept.level = std::max(kept.level, merged.level);
  kept.groups.insert(kept.groups.end(), merged.groups.begin(), merged.groups.end());
  if (merged.id == TemplateId(0)) return a;
  if (kept.id != TemplateId(0) && kept.id < merged.id) {
    renames_.push_back({merged.id, kept.id});
  } else {
    give_id(kept, merged.id);
  }
  return a;
}

}  // namespace l4::job
