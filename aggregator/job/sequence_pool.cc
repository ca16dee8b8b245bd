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

/// The caller gets a reference.
SequenceId SequencePool::intern(const Sequence& sequence) {
  if (sequence.empty()) return SequenceId{0};
  const std::uint64_t hash = hash_of(sequence);
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto found = from; found != to; ++found) {
    if (entries_[found->second].sequence != sequence) continue;
    ++entries_[found->second].references;
    return SequenceId{found->second};
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  entries_[id] = {sequence, hash, 1};
  elements_ += sequence.size();
  by_hash_.emplace(hash, id);
  return SequenceId{id};
}

void SequencePool::release(SequenceId id) {
  Entry& entry = entries_[id.value()];
  if (id == SequenceId{0} || --entry.references > 0) return;
  auto [found, to] = by_hash_.equal_range(entry.hash);
  while (found != to && found->second != id.value()) ++found;
  by_hash_.erase(found);
  elements_ -= entry.sequence.size();
  entry = {};
  free_.push_back(id.value());
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
  const SequenceId joined = intern(joined_);
  release(head);
  return joined;
}

}  // namespace l4::job
