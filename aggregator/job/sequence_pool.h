// Run-collapsed event sequences of one agent, each stored once.
//
// Most iterations of a rank say the same: a hash answers, and a (rank, iteration) costs four
// bytes. Ids are dense; 0 is the empty sequence. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/wire/batch.h"

namespace l4::job {

using SequenceId = Named<struct SequenceTag, std::uint32_t>;
using Sequence = std::vector<std::uint32_t>;  ///< local template ids, no two equal in a row

class SequencePool {
 public:
  SequencePool() : sequences_(1) {}

  SequenceId intern(const Sequence& sequence);
  /// `head` followed by `tail`, collapsed where they meet.
  SequenceId append(SequenceId head, std::span<const wire::Run> tail);
  const Sequence& at(SequenceId id) const { return sequences_[id.value()]; }
  std::size_t size() const { return sequences_.size(); }

 private:
  std::vector<Sequence> sequences_;
  Sequence joined_;  // of the last append()
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

}  // namespace l4::job
