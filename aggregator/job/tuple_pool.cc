#include "aggregator/job/tuple_pool.h"

#include <functional>
#include <string_view>

#include "common/saved/archive.h"

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

template <class Archive, class Self>
void TuplePool::persist(Archive& archive, Self& self) {
  const auto tuple = [&](auto& parameters) {
    archive.list(parameters, 3, [&](auto& parameter) {
      archive.enumerator(parameter.kind, wire::ParameterKind::duration_ms);
      archive(parameter.value);
      archive(parameter.blamed);
    });
  };
  SharedPool<Tuple>::persist(archive, self.tuples_, tuple, hash_of_tuple);
}

void TuplePool::save(ByteWriter& out) const {
  saved::Writer archive(out);
  persist(archive, *this);
}

void TuplePool::load(ByteReader& in) {
  saved::Reader archive(in);
  tuples_ = {};
  persist(archive, *this);
}

}  // namespace l4::job
