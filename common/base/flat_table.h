// Open-addressing hash table from 64-bit hashes to small values.
//
// Keys are hashes already, so the lower bits index it. One contiguous array, no allocation on a
// look-up or on an insertion below the load limit. Not bounded by itself: the owner calls erase()
// or keep_if() when size() reaches its limit. Pointers are valid until the next insertion or
// erasure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace l4 {

template <class Value>
class FlatTable {
 public:
  struct Entry {
    std::uint64_t key = 0;  ///< 0: empty
    Value value{};
  };

  std::size_t size() const { return size_; }

  const Value* find(std::uint64_t key) const {
    if (entries_.empty()) return nullptr;
    const Entry& entry = entries_[index(entries_, stored(key))];
    return entry.key != 0 ? &entry.value : nullptr;
  }
  Value* find(std::uint64_t key) {
    return const_cast<Value*>(std::as_const(*this).find(key));  // NOLINT: own, mutable here
  }

  /// Prefetches the entry that find() reads first.
  void prefetch(std::uint64_t key) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[stored(key) & (entries_.size() - 1)]);
  }

  /// The value of a key, default-constructed if the key is new.
  Value& operator[](std::uint64_t key) {
    if ((size_ + 1) * 4 > entries_.size() * 3) rebuild(entries_.empty() ? 64 : entries_.size() * 2);
    Entry& entry = entries_[index(entries_, stored(key))];
    if (entry.key == 0) {
      entry.key = stored(key);
      ++size_;
    }
    return entry.value;
  }

  /// Drops the entry of a key; false if there is none.
  bool erase(std::uint64_t key) {
    if (entries_.empty()) return false;
    std::size_t hole = index(entries_, stored(key));
    if (entries_[hole].key == 0) return false;
    const std::size_t mask = entries_.size() - 1;
    // Later entries of the run move up, but never before the place that their key asks for.
    for (std::size_t at = (hole + 1) & mask; entries_[at].key != 0; at = (at + 1) & mask) {
      if (((at - entries_[at].key) & mask) < ((at - hole) & mask)) continue;
      entries_[hole] = std::move(entries_[at]);
      hole = at;
    }
    entries_[hole] = Entry{};
    --size_;
    return true;
  }

  template <class Visit>
  void for_each(Visit visit) {
    for (Entry& entry : entries_) {
      if (entry.key != 0) visit(entry.value);
    }
  }

  template <class Visit>
  void for_each_entry(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.key != 0) visit(entry.key, entry.value);
    }
  }

  /// Drops every entry that `keep(value)` refuses; returns how many.
  template <class Keep>
  std::size_t keep_if(Keep keep) {
    const std::size_t before = size_;
    for (Entry& entry : entries_) {
      if (entry.key != 0 && !keep(entry.value)) {
        entry.key = 0;
        --size_;
      }
    }
    rebuild(entries_.size());
    return before - size_;
  }

 private:
  static std::uint64_t stored(std::uint64_t key) { return key != 0 ? key : 1; }

  static std::size_t index(const std::vector<Entry>& entries, std::uint64_t key) {
    const std::size_t mask = entries.size() - 1;
    std::size_t at = key & mask;
    while (entries[at].key != 0 && entries[at].key != key) at = (at + 1) & mask;
    return at;
  }

  void rebuild(std::size_t capacity) {
    std::vector<Entry> grown(capacity);
    for (Entry& entry : entries_) {
      if (entry.key != 0) grown[index(grown, entry.key)] = std::move(entry);
    }
    entries_ = std::move(grown);
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace l4
