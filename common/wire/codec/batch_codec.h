// Batch <-> Cap'n Proto bytes (schemas/batch.capnp). `decode(encode(b)) == b` for every batch
// within the limits of batch.h (except that invalid negative numbers become "none").
//
// Thread-safe, no state. Decoding trusts nothing: limits on size, nesting and every enum and
// list; a bad message gives an Error that names the field, never an exception or a crash. Memory
// made by decoding is at most some 40 times the message. docs/WIRE.md has the numbers.
#pragma once

#include <cstddef>
#include <span>

#include "common/base/error.h"
#include "common/wire/batch.h"
#include "common/wire/limits.h"

namespace l4::wire {

/// A single text or list must stay under the 2^29 elements of the format: the sender splits long
/// before that.
Bytes encode(const Batch& batch);
Result<Batch> decode(std::span<const std::byte> message);
/// Replaces the content of `batch`; its lists keep their room. After an error it is unspecified.
Result<void> decode(std::span<const std::byte> message, Batch& batch);

}  // namespace l4::wire
