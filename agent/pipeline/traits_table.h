// What an agent knows of each of its templates, by local id.
//
// Place in the flow: JobPipeline asks for every line, mostly for a template it has asked for
// a few lines before. Traits stay where they are: a table of places is searched, and the room of a
// forgotten template is given to a new one. One per agent, one thread. Bounded by the templates
// that the miner remembers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "agent/segment/template_traits.h"
#include "common/base/flat_table.h"
#include "common/base/ids.h"

namespace l4::pipeline {

class TraitsTable {
 public:
  /// Those of a template; as yet unseen if they are new. Valid until it is erased.
  segment::TemplateTraits& operator[](LocalTemplateId id) {
    const std::uint64_t key = segment::key_of(id);
    if (segment::TemplateTraits* const* place = places_.find(key); place != nullptr) return **place;
    if (free_.empty()) free_.push_back(&traits_.emplace_back());
    segment::TemplateTraits* const place = free_.back();
    free_.pop_back();
    places_[key] = place;
    return *place;
  }

  void erase(LocalTemplateId id) {
    segment::TemplateTraits* const* place = places_.find(segment::key_of(id));
    if (place == nullptr) return;
    **place = {};
    free_.push_back(*place);
    places_.erase(segment::key_of(id));
  }

 private:
  FlatTable<segment::TemplateTraits*> places_;
  std::deque<segment::TemplateTraits> traits_;
  std::vector<segment::TemplateTraits*> free_;
};

}  // namespace l4::pipeline
