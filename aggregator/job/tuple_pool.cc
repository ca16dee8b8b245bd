#include "aggregator/job/tuple_pool.h"

#include <functional>
#include <string_view>

namespace l4::job {
namespace {

std::uint64_t hash_of_tuple(const Tuple& tuple) {
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
  return TupleId{tuples_.intern(tuple, hash_of_tuple(tuple)).id};
}

void TuplePool::save(ByteWriter& out) const {
  tuples_.save(out, [](ByteWriter& to, const Tuple& tuple) {
    to.number(tuple.size());
    for (const wire::Parameter& parameter : tuple) {
      to.byte(static_cast<std::uint8_t>(parameter.kind));
      to.text(parameter.value);
    }
  });
}

void TuplePool::load(ByteReader& in) {
  const auto get = [](ByteReader& from) {
    Tuple tuple(from.count(2));
    for (wire::Parameter& parameter : tuple) {
      parameter.kind = static_cast<wire::ParameterKind>(from.byte());
      if (parameter.kind > wire::ParameterKind::duration_ms) from.fail();
      parameter.value = from.text();
    }
    return tuple;
  };
  tuples_.load(in, get, hash_of_tuple);
}

}  // namespace l4::job
