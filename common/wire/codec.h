// Batch <-> Cap'n Proto bytes (schemas/batch.capnp). `decode(encode(b)) == b` for every batch.
//
// Thread-safe, no state. Decoding trusts nothing: limits on size, nesting and every enum and
// index; a bad message gives an Error that names the field, never an exception or a crash.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/base/error.h"
#include "common/wire/batch.h"

namespace l4::wire {

inline constexpr std::size_t kMessageBytesMax = 64u << 20;  ///< decoder's traversal limit

using Bytes = std::vector<std::byte>;

Bytes encode(const Batch& batch);
Result<Batch> decode(std::span<const std::byte> message);

}  // namespace l4::wire
