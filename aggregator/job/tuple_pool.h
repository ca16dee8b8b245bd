// Parameter tuples of a job, each stored once: ranks of a job print the same few over and over.
//
// Flow: Stream::apply() interns what a segment brings and keeps ids; aggregator/job/view.h gives
// the values back. Ids are dense from 0; an owner of an id holds a reference, and a tuple without
// references is freed. One thread. Bounded by what the streams may refer to.
#pragma once

#include <cstdint>
#include <vector>

#include "aggregator/job/shared_pool.h"
#include "common/base/byte_stream.h"
#include "common/base/ids.h"
#include "common/wire/batch.h"

namespace l4::job {

using TupleId = Named<struct TupleTag, std::uint32_t>;
using Tuple = std::vector<wire::Parameter>;

class TuplePool {
 public:
  /// The caller gets a reference.
  TupleId intern(const Tuple& tuple);
  void release(TupleId id) { tuples_.release(id.value()); }
  const Tuple& at(TupleId id) const { return tuples_.at(id.value()); }
  /// Tuples with references.
  std::size_t size() const { return tuples_.size(); }
  bool has(TupleId id) const { return id.value() < tuples_.ids(); }

  // Ids stay the same.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);

  SharedPool<Tuple> tuples_;
};

}  // namespace l4::job
