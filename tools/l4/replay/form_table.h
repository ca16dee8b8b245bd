// The forms of all stamps of a replay, numbered, so that a place needs two bytes for its form.
//
// Forms are few (one for each format and width of its numbers); they stay as long as the table. One
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/base/check.h"
#include "tools/l4/replay/stamp_form.h"

namespace l4::replay {

class FormTable {
 public:
  std::uint16_t number_of(const StampForm& form) {
    const auto found = std::ranges::find(forms_, form);
    if (found != forms_.end()) return static_cast<std::uint16_t>(found - forms_.begin());
    L4_CHECK(forms_.size() < 0xFFFF, "{} forms", forms_.size());
    forms_.push_back(form);
    return static_cast<std::uint16_t>(forms_.size() - 1);
  }
  const StampForm& form(std::uint16_t number) const { return forms_[number]; }
  const std::vector<StampForm>& forms() const { return forms_; }

 private:
  std::vector<StampForm> forms_;
};

}  // namespace l4::replay
