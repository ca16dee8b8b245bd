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

/// The pool itself refers to the empty sequence, so that it stays 0.
SequencePool::SequencePool() {
  sequences_.intern({}, hash_of({}));
}

void SequencePool::release(SequenceId id) {
  if (id == SequenceId{0}) return;
  const std::size_t size = at(id).size();
  if (sequences_.release(id.value())) elements_ -= size;
}

SequenceId SequencePool::append(SequenceId head, std::span<const wire::Run> tail) {
  if (tail.empty()) return head;
  joined_ = at(head);
  for (const wire::Run& run : tail) {
    if (!joined_.empty() && joined_.back() == run.id.value()) continue;
    if (joined_.size() == kLengthMax)
      joined_.erase(joined_.begin() + static_cast<std::ptrdiff_t>(kLengthMax / 2));
    joined_.push_back(run.id.value());
  }
  const auto [id, created] = sequences_.intern(joined_, hash_of(joined_));
  if (created) elements_ += joined_.size();
  release(head);
  return SequenceId{id};
}

}  // namespace l4::job
