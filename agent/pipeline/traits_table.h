// The traits of an agent's templates, by local id.
//
// Place in the flow: JobPipeline asks for every line, mostly for a template that it asked for a few
// lines earlier. Traits never move: a table of pointers is searched, and a new template reuses the
// memory of a forgotten one. One per agent, one thread. Bounded by the templates that the miner
// keeps.
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
  /// The traits of a template, created empty if there are none. Valid until erase().
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
