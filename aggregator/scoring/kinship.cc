#include "aggregator/scoring/kinship.h"

#include <functional>
#include <utility>

namespace l4::scoring {

void Kinship::resolve(std::shared_ptr<const pool::Shelf> shelf, job::TemplateTable& templates,
                      watch::JobWatch& watch, TimeMs now) {
  next_ = now + kEvery;
  if (!shelf || (shelf->kinds().empty() && kind_.empty())) {
    shelf_ = std::move(shelf);
    return;
  }
  const std::size_t known = templates.size();
  if (shelf == shelf_ && known == templates_) return;
  templates_ = known;
  const bool another = shelf != shelf_;
  shelf_ = std::move(shelf);
  const pool::Kind* kind = shelf_->kind_of(pool::marks_of(templates));
  const std::string before = std::exchange(kind_, kind == nullptr ? std::string() : kind->id);
  normal_ = kind == nullptr ? diagnose::Pool() : pool::normal_of(*kind, templates);
  if (!another && before == kind_) return;
  watch.cool();
  watch.set_normal({});
  if (kind == nullptr) return;
  for (const pool::Pause& pause : kind->pauses)
    watch.warm({pause.stage, pause.startup}, pause.longest);
  watch.set_normal([kept = shelf_, kind](const wire::TemplateDefinition& definition) {
    if (kind->texts.contains(std::hash<std::string>{}(definition.text))) return true;
    for (const Skeleton skeleton : definition.skeletons)
      if (kind->ids.contains(TemplateId{skeleton.value()})) return true;
    return false;
  });
}

}  // namespace l4::scoring
