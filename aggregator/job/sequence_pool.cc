#include "aggregator/job/sequence_pool.h"

#include <utility>

#include "common/saved/archive.h"

namespace l4::job {
namespace {

/// Hashes the beginning, the end and samples of a long sequence; the look-up compares the rest.
std::uint64_t hash_of_sequence(const Sequence& sequence) {
  constexpr std::size_t kWhole = 32;
  const std::size_t size = sequence.size();
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL + size;
  const auto add = [&](std::size_t from, std::size_t to, std::size_t step) {
    for (std::size_t i = from; i < to; i += step) {
      hash ^= sequence[i] + 1;
      hash *= 0xff51afd7ed558ccdULL;
      hash ^= hash >> 32;
    }
  };
  if (size <= 3 * kWhole) {
    add(0, size, 1);
  } else {
    add(0, kWhole / 2, 1);
    add(kWhole / 2, size - kWhole, (size - kWhole) / kWhole + 1);
    add(size - kWhole, size, 1);
  }
  return hash;
}

}  // namespace

/// The pool itself refers to the empty sequence, so that it stays 0.
SequencePool::SequencePool() {
  sequences_.intern(Sequence{}, hash_of_sequence({}));
}

void SequencePool::release(SequenceId id) {
  if (id == SequenceId{0}) return;
  const std::size_t size = at(id).size();
  if (sequences_.release(id.value())) elements_ -= size;
}

/// The sequence of an iteration under way has no other owner, so it grows in place.
SequenceId SequencePool::append(SequenceId head, std::span<const wire::Run> tail) {
  if (tail.empty()) return head;
  joined_.clear();
  if (head != SequenceId{0}) {
    const std::size_t size = at(head).size();
    if (sequences_.extract(head.value(), joined_)) elements_ -= size;
  }
  for (const wire::Run& run : tail) {
    if (!joined_.empty() && joined_.back() == run.id.value()) continue;
    if (joined_.size() == kLengthMax)
      joined_.erase(joined_.begin() + static_cast<std::ptrdiff_t>(kLengthMax / 2));
    joined_.push_back(run.id.value());
  }
  const std::size_t size = joined_.size();
  const std::uint64_t hash = hash_of_sequence(joined_);
  const auto [id, created] = sequences_.intern(std::move(joined_), hash);
  if (created) elements_ += size;
  return SequenceId{id};
}

template <class Archive, class Self>
void SequencePool::persist(Archive& archive, Self& self) {
  const auto sequence = [&](auto& ids) { archive.list(ids, 1, [&](auto& id) { archive(id); }); };
  SharedPool<Sequence>::persist(archive, self.sequences_, sequence, hash_of_sequence);
}

void SequencePool::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void SequencePool::load(ByteReader& in) {
  saved::Reader archive(in);
  sequences_ = {};
  persist(archive, *this);
  archive.require(sequences_.ids() > 0 && at(SequenceId{0}).empty());
  elements_ = 0;
  for (std::uint32_t id = 0; id < sequences_.ids(); ++id)
    elements_ += at(SequenceId{id}).size();  // released sequences are empty
  if (!archive.ok()) *this = SequencePool();
}

}  // namespace l4::job
