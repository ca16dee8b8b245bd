#include "aggregator/job/sequence_pool.h"

namespace l4::job {
namespace {

std::uint64_t hash_of(const Sequence& sequence) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (const std::uint32_t id : sequence) {
    hash ^= id + 1;
    hash *= 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

SequenceId SequencePool::intern(Sequence sequence) {
  if (sequence.empty()) return SequenceId{0};
  const std::uint64_t hash = hash_of(sequence);
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto found = from; found != to; ++found)
    if (sequences_[found->second] == sequence) return SequenceId{found->second};
  const auto id = static_cast<std::uint32_t>(sequences_.size());
  sequences_.push_back(std::move(sequence));
  by_hash_.emplace(hash, id);
  return SequenceId{id};
}

SequenceId SequencePool::append(SequenceId head, const Sequence& tail) {
  if (tail.empty()) return head;
  Sequence whole = at(head);
  for (const std::uint32_t id : tail)
    if (whole.empty() || whole.back() != id) whole.push_back(id);
  return intern(std::move(whole));
}

}  // namespace l4::job
