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

SequenceId SequencePool::intern(const Sequence& sequence) {
  if (sequence.empty()) return SequenceId{0};
  const std::uint64_t hash = hash_of(sequence);
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto found = from; found != to; ++found)
    if (sequences_[found->second] == sequence) return SequenceId{found->second};
  const auto id = static_cast<std::uint32_t>(sequences_.size());
  sequences_.push_back(sequence);
  by_hash_.emplace(hash, id);
  return SequenceId{id};
}

SequenceId SequencePool::append(SequenceId head, std::span<const wire::Run> tail) {
  if (tail.empty()) return head;
  joined_ = at(head);
  for (const wire::Run& run : tail)
    if (joined_.empty() || joined_.back() != run.id.value()) joined_.push_back(run.id.value());
  return intern(joined_);
}

}  // namespace l4::job
