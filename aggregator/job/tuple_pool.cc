#include "aggregator/job/tuple_pool.h"

#include <functional>
#include <string_view>

namespace l4::job {
namespace {

std::uint64_t hash_of(const Tuple& tuple) {
  std::uint64_t hash = tuple.size();
  for (const wire::Parameter& value : tuple) {
    hash ^= std::hash<std::string_view>{}(value.value) + static_cast<std::uint64_t>(value.kind);
    hash *= 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

TupleId TuplePool::intern(const Tuple& tuple) {
  const std::uint64_t hash = hash_of(tuple);
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto found = from; found != to; ++found) {
    if (tuples_[found->second].tuple != tuple) continue;
    ++tuples_[found->second].references;
    return TupleId{found->second};
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(tuples_.size()));
    tuples_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  tuples_[id] = {tuple, hash, 1};
  tuples_[id].tuple.shrink_to_fit();
  by_hash_.emplace(hash, id);
  return TupleId{id};
}

void TuplePool::release(TupleId id) {
  Entry& entry = tuples_[id.value()];
  if (--entry.references > 0) return;
  auto [found, to] = by_hash_.equal_range(entry.hash);
  while (found != to && found->second != id.value()) ++found;
  by_hash_.erase(found);
  entry = {};
  free_.push_back(id.value());
}

}  // namespace l4::job
