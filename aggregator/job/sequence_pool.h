// Run-collapsed event sequences of one agent, each stored once.
//
// Most iterations of a rank say the same: a hash answers, and a (rank, iteration) costs four
// bytes. Ids are dense and 0 is the empty sequence; whoever keeps an id holds a reference, and a
// sequence without one gives its room away. A sequence of more than kLengthMax events keeps its
// first and last half. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/wire/segment.h"

namespace l4::job {

using SequenceId = Named<struct SequenceTag, std::uint32_t>;
using Sequence = std::vector<std::uint32_t>;  ///< local template ids, no two equal in a row

class SequencePool {
 public:
  static constexpr std::size_t kLengthMax = 512;

  SequencePool() : entries_(1) {}

  /// Takes the caller's reference to `head` and gives one to `head` followed by `tail`, collapsed
  /// where they meet.
  SequenceId append(SequenceId head, std::span<const wire::Run> tail);
  void release(SequenceId id);

  const Sequence& at(SequenceId id) const { return entries_[id.value()].sequence; }
  /// Distinct sequences, the empty one too.
  std::size_t size() const { return entries_.size() - free_.size(); }
  /// Events in all of them together: what they cost is four bytes each.
  std::size_t elements() const { return elements_; }

 private:
  struct Entry {
    Sequence sequence;
    std::uint64_t hash = 0;
    std::uint32_t references = 0;
  };

  SequenceId intern(const Sequence& sequence);

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::size_t elements_ = 0;
  Sequence joined_;  // of the last append()
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

}  // namespace l4::job
