// An immutable table from keys to values: two sorted arrays, no gaps, binary search.
//
// For data that is kept long and read rarely, for which flat_table.h would waste memory. Plain
// value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/base/check.h"

namespace l4::drain {

template <class Key, class Value>
class SortedTable {
 public:
  SortedTable() = default;
  /// Keys must differ.
  explicit SortedTable(std::vector<std::pair<Key, Value>> entries) {
    std::ranges::sort(entries, {}, [](const auto& entry) { return entry.first; });
    keys_.reserve(entries.size());
    values_.reserve(entries.size());
    for (auto& [key, value] : entries) {
      L4_CHECK(keys_.empty() || keys_.back() < key, "key {} is there twice", key);
      keys_.push_back(key);
      values_.push_back(value);
    }
  }

  const Value* find(Key key) const {
    const auto at = std::ranges::lower_bound(keys_, key);
    if (at == keys_.end() || *at != key) return nullptr;
    return &values_[static_cast<std::size_t>(at - keys_.begin())];
  }

 private:
  std::vector<Key> keys_;
  std::vector<Value> values_;
};

}  // namespace l4::drain
