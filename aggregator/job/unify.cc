#include "aggregator/job/unify.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/check.h"
#include "common/drain/hash.h"
#include "common/drain/row.h"
#include "common/saved/archive.h"

namespace l4::job {
namespace {

constexpr std::size_t kRowsMax = 6'000'000;  // 200 MB of table: three quarters of 2^23 places
constexpr std::size_t kDeadMin = 256;        // dropped definitions before a sweep

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
  if (definition.skeletons.empty() && !definition.alias_of) return;
  if (node >= locals_.size()) locals_.resize(node + 1);
  Local& local = locals_[node][key_of(definition.id)];
  const std::uint32_t generation = definition.generation & 0x7fffffffU;
  if (!definition.skeletons.empty() && generation >= local.generation) {
    local.generation = generation;
    const DefinitionId before = std::exchange(local.stored, intern(definition));
    if (before != kNone) release(before);
  }
  if (definition.alias_of) local.alias_of = definition.alias_of->value();
  local.fresh = fresh_ = true;
}

void TemplateTable::forget(std::uint32_t node, const std::vector<LocalTemplateId>& ids) {
  if (node >= locals_.size()) return;
  for (const LocalTemplateId id : ids) {
    const Local* local = locals_[node].find(key_of(id));
    if (local == nullptr) continue;
    if (local->stored != kNone) release(local->stored);
    locals_[node].erase(key_of(id));
  }
  if (dead_ > kDeadMin + definitions() / 4) sweep();
}

/// The caller becomes a user of the definition; an equal definition of another node costs one
/// look-up.
TemplateTable::DefinitionId TemplateTable::intern(const wire::TemplateDefinition& definition) {
  const std::uint64_t key = hash(definition);
  if (const DefinitionId* known = known_.find(key); known != nullptr) {
    ++definitions_[*known].users;
    return *known;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<DefinitionId>(definitions_.size()));
    definitions_.emplace_back();
  }
  const DefinitionId id = free_.back();
  free_.pop_back();
  definitions_[id] = {key, 1, kNone, definition.level, definition.text, definition.skeletons};
  return known_[key] = id;
}

void TemplateTable::release(DefinitionId id) {
  Definition& stored = definitions_[id];
  L4_CHECK(stored.users > 0, "definition {} is released without a user", id);
  if (--stored.users > 0) return;
  if (stored.element != kNone) ++dead_;
  known_.erase(stored.key);
  stored = {};
  free_.push_back(id);
}

void TemplateTable::merge_pending() {
  if (!std::exchange(fresh_, false)) return;
  for (FlatTable<Local>& locals : locals_) merge_pending(locals);
}

void TemplateTable::merge_pending(FlatTable<Local>& locals) {
  std::vector<std::pair<Element, std::uint32_t>> aliases;
  locals.for_each([&](Local& local) {
    if (!local.fresh) return;
    local.fresh = false;
    const Element element = element_of(local);
    if (local.alias_of != kNone) aliases.emplace_back(element, local.alias_of);
  });
  for (const auto& [element, target] : aliases)
    unite(element, element_of(locals[key_of(LocalTemplateId(target))]));
}

TemplateTable::Element TemplateTable::element_of(Local& local) {
  if (local.stored != kNone) {
    const Element said = element_of(definitions_[local.stored]);
    local.element = local.element == kNone ? said : unite(local.element, said);
  }
  if (local.element == kNone) local.element = new_element();
  return local.element;
}

/// Drops the classes that no node remembers.
void TemplateTable::sweep() {
  dead_ = 0;
  std::vector<bool> stands(parents_.size());
  for (FlatTable<Local>& locals : locals_)
    locals.for_each([&](const Local& local) {
      if (local.element != kNone) stands[root(local.element)] = true;
    });
  for (const Definition& stored : definitions_)
    if (stored.element != kNone) stands[root(stored.element)] = true;
  std::vector<drain::GroupId> groups;
  std::erase_if(classes_, [&](const auto& entry) {
    if (stands[entry.first]) return false;
    groups.insert(groups.end(), entry.second.groups.begin(), entry.second.groups.end());
    return true;
  });
  skeleton_elements_.keep_if([&](Element element) { return stands[root(element)]; });
  for (const drain::GroupId group : groups) group_elements_.erase(group);
  std::ranges::sort(groups);
  grouping_.forget(groups);
}

TemplateId TemplateTable::resolve(std::uint32_t node, LocalTemplateId id) {
  merge_pending();
  if (node >= locals_.size()) return TemplateId(0);
  const Local* local = locals_[node].find(key_of(id));
  if (local == nullptr || local->element == kNone) return TemplateId(0);
  return classes_.at(root(local->element)).id;
}

TemplateId TemplateTable::canonical(TemplateId id) {
  const Class* known = find(id);
  return known != nullptr ? known->id : id;
}

std::string TemplateTable::text(TemplateId id) {
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

Level TemplateTable::level(TemplateId id) {
  const Class* known = find(id);
  return known != nullptr ? known->level : Level::unknown;
}

std::vector<TemplateId> TemplateTable::all() {
  merge_pending();
  std::vector<TemplateId> ids;
  for (const auto& [element, known] : classes_) {
    if (known.id != TemplateId(0)) ids.push_back(known.id);
  }
  std::ranges::sort(ids);
  return ids;
}

std::size_t TemplateTable::size() {
  return all().size();
}

const TemplateTable::Class* TemplateTable::find(TemplateId id) {
  merge_pending();
  const Element* element = skeleton_elements_.find(id.value());
  return element != nullptr ? &classes_.at(root(*element)) : nullptr;
}

TemplateTable::Element TemplateTable::new_element() {
  const auto element = static_cast<Element>(parents_.size());
  parents_.push_back(element);
  classes_.try_emplace(element);
  return element;
}

/// Element of a text and all its skeletons.
TemplateTable::Element TemplateTable::element_of(Definition& stored) {
  if (stored.element != kNone) return stored.element;
  Element element = root(group_element(stored));
  for (const Skeleton skeleton : stored.skeletons) {
    const TemplateId id(skeleton.value());
    if (const Element* known = skeleton_elements_.find(id.value()); known != nullptr) {
      element = unite(element, *known);
    } else {
      skeleton_elements_[id.value()] = element;
      give_id(classes_.at(element), id);
    }
  }
  Class& defined = classes_.at(element);
  defined.level = std::max(defined.level, stored.level);
  stored.text = std::string();
  stored.skeletons = std::vector<Skeleton>();
  return stored.element = element;
}

TemplateTable::Element TemplateTable::group_element(const Definition& stored) {
  const bool general = stored.skeletons.size() > 1;
  const drain::GroupId group = grouping_.insert(drain::row_of_text(stored.text), general);
  for (const drain::Grouping::Merge& merge : grouping_.poll_merges()) {
    const auto from = group_elements_.find(merge.from);
    if (from == group_elements_.end()) continue;
    std::erase(classes_.at(root(from->second)).groups, merge.from);
    unite(from->second, group_elements_.at(merge.to));
    group_elements_.erase(merge.from);
  }
  grouping_.poll_changed();
  const auto [at, created] = group_elements_.try_emplace(group, kNone);
  if (created) {
    at->second = new_element();
    classes_.at(at->second).groups.push_back(group);
  }
  return at->second;
}

void TemplateTable::give_id(Class& known, TemplateId id) {
  if (known.id != TemplateId(0) && known.id <= id) return;
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
  L4_CHECK(classes_.contains(a) && classes_.contains(b), "roots {} and {} have no class", a, b);
  const Class merged = std::move(classes_.at(b));
  classes_.erase(b);
  parents_[b] = a;
  Class& kept = classes_.at(a);
  kept.level = std::max(kept.level, merged.level);
  kept.groups.insert(kept.groups.end(), merged.groups.begin(), merged.groups.end());
  if (merged.id == TemplateId(0)) return a;
  give_id(kept, merged.id);
  return a;
}

// Every container as it is, including definitions that wait.
template <class Archive, class Self>
void TemplateTable::persist(Archive& archive, Self& self) {
  archive.list(self.locals_, 1, [&](auto& locals) {
    archive.table(locals, [&](auto& local) {
      archive.index(local.stored);
      archive.index(local.element);
      archive.index(local.alias_of);
      std::uint32_t rest = local.generation << 1U | (local.fresh ? 1U : 0U);
      archive(rest);
      if constexpr (Archive::kLoads) {
        local.generation = rest >> 1U;
        local.fresh = (rest & 1U) != 0;
      }
    });
  });
  archive.list(self.definitions_, 1, [&](auto& stored) {
    archive(stored.users);
    if (stored.users == 0) return;
    archive.word(stored.key);
    archive.index(stored.element);
    archive.enumerator(stored.level, Level::fatal);
    archive(stored.text);
    archive.list(stored.skeletons, 8, [&](auto& skeleton) { archive.word(skeleton); });
  });
  archive.list(self.free_, 1, [&](auto& id) { archive(id); });
  archive(self.fresh_, self.dead_);
  archive.part(self.grouping_);
  persist_classes(archive, self);
  if constexpr (Archive::kLoads) {
    for (DefinitionId id = 0; id < self.definitions_.size(); ++id)
      if (self.definitions_[id].users > 0) self.known_[self.definitions_[id].key] = id;
  }
}

template <class Archive, class Self>
void TemplateTable::persist_classes(Archive& archive, Self& self) {
  const auto number = [&](auto& value) { archive(value); };
  archive.list(self.parents_, 1, number);
  archive.map(self.classes_, 11, number, [&](auto& known) {
    archive.word(known.id);
    archive.enumerator(known.level, Level::fatal);
    archive.list(known.groups, 1, number);
  });
  archive.map(self.group_elements_, 2, number, number);
  archive.table(self.skeleton_elements_, number);
  std::vector<std::pair<TemplateId, TemplateId>> renames;  // no longer kept; older files hold some
  archive.list(renames, 2 * sizeof(std::uint64_t), [&](auto& rename) {
    archive.word(rename.first);
    archive.word(rename.second);
  });
}

void TemplateTable::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void TemplateTable::load(ByteReader& in) {
  saved::Reader archive(in);
  *this = TemplateTable();
  persist(archive, *this);
  archive.require(is_whole());
  if (!archive.ok()) *this = TemplateTable();
}

/// Every index is in range and every element has a class, so loaded bytes cannot lead out of
/// bounds.
bool TemplateTable::is_whole() {
  for (Element element = 0; element < parents_.size(); ++element)
    if (parents_[element] > element) return false;
  const auto stands = [&](Element element) {
    return element < parents_.size() && classes_.contains(root(element));
  };
  const auto may_stand = [&](Element element) { return element == kNone || stands(element); };
  bool whole = true;
  for (FlatTable<Local>& locals : locals_)
    locals.for_each([&](const Local& local) {
      whole = whole && may_stand(local.element) &&
              (local.stored == kNone ||
               (local.stored < definitions_.size() && definitions_[local.stored].users > 0));
    });
  for (const Definition& stored : definitions_) whole = whole && may_stand(stored.element);
  for (const DefinitionId id : free_)
    whole = whole && id < definitions_.size() && definitions_[id].users == 0;
  for (const auto& [group, element] : group_elements_) whole = whole && stands(element);
  skeleton_elements_.for_each([&](Element element) { whole = whole && stands(element); });
  return whole;
}

}  // namespace l4::job
