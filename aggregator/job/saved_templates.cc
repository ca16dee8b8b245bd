// TemplateTable as bytes and back: every container as it stands, also definitions that wait.
#include <utility>

#include "aggregator/job/unify.h"
#include "common/drain/row_saved.h"

namespace l4::job {
namespace {

void save_skeletons(ByteWriter& out, const std::vector<Skeleton>& skeletons) {
  out.number(skeletons.size());
  for (const Skeleton skeleton : skeletons) out.word(skeleton.value());
}

std::vector<Skeleton> load_skeletons(ByteReader& in) {
  std::vector<Skeleton> skeletons(in.count(sizeof(std::uint64_t)));
  for (Skeleton& skeleton : skeletons) skeleton = Skeleton{in.word()};
  return skeletons;
}

Level load_level(ByteReader& in) {
  const auto level = static_cast<Level>(in.byte());
  if (level > Level::fatal) in.fail();
  return level;
}

}  // namespace

void TemplateTable::save(ByteWriter& out) const {
  out.number(locals_.size());
  for (const FlatTable<Local>& locals : locals_)
    drain::save(out, locals, [](ByteWriter& to, const Local& local) {
      to.number(local.saying + 1U);  // kNone becomes 0
      to.number(local.element + 1U);
      to.number(local.alias_of + 1U);
      to.number(local.generation << 1U | (local.fresh ? 1U : 0U));
    });
  out.number(sayings_.size());
  for (const Saying& saying : sayings_) {
    out.number(saying.users);
    if (saying.users == 0) continue;
    out.word(saying.key);
    out.number(saying.element + 1U);
    out.byte(static_cast<std::uint8_t>(saying.level));
    out.text(saying.text);
    save_skeletons(out, saying.skeletons);
  }
  out.number(free_.size());
  for (const SayingId id : free_) out.number(id);
  out.byte(fresh_ ? 1 : 0);
  out.number(dead_);
  grouping_.save(out);
  save_classes(out);
}

void TemplateTable::save_classes(ByteWriter& out) const {
  out.number(parents_.size());
  for (const Element parent : parents_) out.number(parent);
  out.number(classes_.size());
  for (const auto& [element, known] : classes_) {
    out.number(element);
    out.word(known.id.value());
    out.byte(static_cast<std::uint8_t>(known.level));
    out.number(known.groups.size());
    for (const drain::GroupId group : known.groups) out.number(group);
  }
  out.number(group_elements_.size());
  for (const auto& [group, element] : group_elements_) {
    out.number(group);
    out.number(element);
  }
  drain::save(out, skeleton_elements_,
              [](ByteWriter& to, const Element element) { to.number(element); });
  out.number(renames_.size());
  for (const Rename& rename : renames_) {
    out.word(rename.from.value());
    out.word(rename.to.value());
  }
}

void TemplateTable::load(ByteReader& in) {
  *this = TemplateTable();
  locals_.resize(in.count());
  for (FlatTable<Local>& locals : locals_)
    drain::load(in, locals, [](ByteReader& from) {
      Local local;
      local.saying = from.number32() - 1U;
      local.element = from.number32() - 1U;
      local.alias_of = from.number32() - 1U;
      const std::uint32_t rest = from.number32();
      local.generation = rest >> 1U;
      local.fresh = (rest & 1U) != 0;
      return local;
    });
  sayings_.resize(in.count());
  for (SayingId id = 0; id < sayings_.size() && in.ok(); ++id) {
    Saying& saying = sayings_[id];
    saying.users = in.number32();
    if (saying.users == 0) continue;
    saying.key = in.word();
    saying.element = in.number32() - 1U;
    saying.level = load_level(in);
    saying.text = in.text();
    saying.skeletons = load_skeletons(in);
    known_[saying.key] = id;
  }
  free_.resize(in.count());
  for (SayingId& id : free_) id = in.number32();
  fresh_ = in.byte() != 0;
  dead_ = in.number();
  grouping_.load(in);
  load_classes(in);
  if (!in.ok() || !is_whole()) {
    in.fail();
    *this = TemplateTable();
  }
}

void TemplateTable::load_classes(ByteReader& in) {
  parents_.resize(in.count());
  for (Element& parent : parents_) parent = in.number32();
  for (std::size_t left = in.count(11); left > 0; --left) {
    Class& known = classes_[in.number32()];
    known.id = TemplateId{in.word()};
    known.level = load_level(in);
    known.groups.resize(in.count());
    for (drain::GroupId& group : known.groups) group = in.number32();
  }
  for (std::size_t left = in.count(2); left > 0; --left) {
    const drain::GroupId group = in.number32();
    group_elements_[group] = in.number32();
  }
  drain::load(in, skeleton_elements_, [](ByteReader& from) { return from.number32(); });
  renames_.resize(in.count(2 * sizeof(std::uint64_t)));
  for (Rename& rename : renames_) {
    rename.from = TemplateId{in.word()};
    rename.to = TemplateId{in.word()};
  }
}

/// Every reference leads somewhere: what was loaded cannot send anybody astray.
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
              (local.saying == kNone ||
               (local.saying < sayings_.size() && sayings_[local.saying].users > 0));
    });
  for (const Saying& saying : sayings_) whole = whole && may_stand(saying.element);
  for (const SayingId id : free_) whole = whole && id < sayings_.size() && sayings_[id].users == 0;
  for (const auto& [group, element] : group_elements_) whole = whole && stands(element);
  skeleton_elements_.for_each([&](Element element) { whole = whole && stands(element); });
  return whole;
}

}  // namespace l4::job
