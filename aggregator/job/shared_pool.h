// Pool of values that are often equal, each stored once with a count of references: the base of the
// pools of sequences and of parameter tuples.
//
// Ids are dense from 0. An owner of an id holds a reference; a value without references is freed,
// and its id is used again. The caller brings the hash; equal hashes of different values are told
// apart. One thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/check.h"

namespace l4::job {

template <class Value>
class SharedPool {
 public:
  struct Interned {
    std::uint32_t id = 0;
    bool created = false;
  };

  /// The caller gets a reference.
  template <class Given>
  Interned intern(Given&& value, std::uint64_t hash) {
    const auto [from, to] = by_hash_.equal_range(hash);
    for (auto found = from; found != to; ++found) {
      if (entries_[found->second].value != value) continue;
      ++entries_[found->second].references;
      return {found->second, false};
    }
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    entries_[id] = {std::forward<Given>(value), hash, 1};
    by_hash_.emplace(hash, id);
    return {id, true};
  }

  /// True if that was the last reference: the value is gone.
  bool release(std::uint32_t id) {
    Entry& entry = entries_[id];
    L4_CHECK(entry.references > 0, "value {} is released without a reference", id);
    if (--entry.references > 0) return false;
    auto [found, to] = by_hash_.equal_range(entry.hash);
    while (found != to && found->second != id) ++found;
    L4_CHECK(found != to, "value {} is not under its hash", id);
    by_hash_.erase(found);
    entry = {};
    free_.push_back(id);
    return true;
  }

  /// Releases the caller's reference and gives the value in `out`: moved, and true, if that was the
  /// last reference, else copied.
  bool extract(std::uint32_t id, Value& out) {
    Entry& entry = entries_[id];
    if (entry.references > 1) {
      out = entry.value;
    } else {
      std::swap(out, entry.value);
    }
    return release(id);
  }

  const Value& at(std::uint32_t id) const { return entries_[id].value; }
  /// Values with references.
  std::size_t size() const { return entries_.size() - free_.size(); }
  /// Ids are below this.
  std::size_t ids() const { return entries_.size(); }

  /// Ids stay the same. `each(value)` saves or loads one value, `hash(value)` is the hash that
  /// intern() was given.
  template <class Archive, class Self, class Each, class Hash>
  static void persist(Archive& archive, Self& self, Each each, Hash hash) {
    archive.list(self.entries_, 1, [&](auto& entry) {
      archive(entry.references);
      if (entry.references > 0) each(entry.value);
    });
    archive.list(self.free_, 1, [&](auto& id) {
      archive(id);
      archive.require(id < self.entries_.size() && self.entries_[id].references == 0);
    });
    if constexpr (Archive::kLoads) {
      for (std::uint32_t id = 0; id < self.entries_.size(); ++id) {
        Entry& entry = self.entries_[id];
        if (entry.references == 0) continue;
        entry.hash = hash(entry.value);
        self.by_hash_.emplace(entry.hash, id);
      }
    }
  }

 private:
  struct Entry {
    Value value;
    std::uint64_t hash = 0;
    std::uint32_t references = 0;
  };

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

}  // namespace l4::job
