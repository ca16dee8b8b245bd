// Run-collapsed event sequences of one agent, each stored once.
//
// Most iterations of a rank have the same sequence, which is found by its hash; so an iteration of
// a rank costs four bytes. Ids are dense and 0 is the empty sequence; an owner of an id holds a
// reference, and a sequence without references is freed. A sequence of more than kLengthMax events
// keeps its first and last half. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregator/job/shared_pool.h"
#include "common/base/byte_stream.h"
#include "common/base/ids.h"
#include "common/wire/segment.h"

namespace l4::job {

using SequenceId = Named<struct SequenceTag, std::uint32_t>;
using Sequence = std::vector<std::uint32_t>;  ///< local template ids, no two equal in a row

class SequencePool {
 public:
  static constexpr std::size_t kLengthMax = 512;

  SequencePool();

  /// Releases the caller's reference to `head` and returns one to `head` followed by `tail`,
  /// collapsed where they meet.
  SequenceId append(SequenceId head, std::span<const wire::Run> tail);
  void release(SequenceId id);

  const Sequence& at(SequenceId id) const { return sequences_.at(id.value()); }
  /// Distinct sequences, the empty one too.
  std::size_t size() const { return sequences_.size(); }
  /// Events in all sequences together; each takes four bytes.
  std::size_t elements() const { return elements_; }
  bool has(SequenceId id) const { return id.value() < sequences_.ids(); }

  // Ids stay the same.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);

  SharedPool<Sequence> sequences_;
  std::size_t elements_ = 0;
  Sequence joined_;  // result of the last append()
};

}  // namespace l4::job
