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
  return TupleId{tuples_.intern(tuple, hash_of(tuple)).id};
}

}  // namespace l4::job
