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
    if (const std::uint32_t* place = places_.find(key); place != nullptr) return traits_[*place];
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(traits_.size()));
      traits_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    places_[key] = place;
    return traits_[place];
  }

  void erase(LocalTemplateId id) {
    const std::uint32_t* place = places_.find(segment::key_of(id));
    if (place == nullptr) return;
    traits_[*place] = {};
    free_.push_back(*place);
    places_.erase(segment::key_of(id));
  }

 private:
  FlatTable<std::uint32_t> places_;  // in traits_
  std::deque<segment::TemplateTraits> traits_;
  std::vector<std::uint32_t> free_;
};

}  // namespace l4::pipeline
