// Seeded random batches within the limits of the wire: empty and full lists, unicode and control
// characters, extreme numbers. For property tests; one engine, one thread.
#pragma once

#include <cstdint>
#include <random>

#include "common/wire/batch.h"

namespace l4::wire {

class RandomBatch {
 public:
  explicit RandomBatch(std::uint64_t seed) : random_(seed) {}
  std::mt19937_64& engine() { return random_; }

  Batch batch();

 private:
  std::mt19937_64 random_;
};

}  // namespace l4::wire
