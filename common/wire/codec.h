// Batch <-> Cap'n Proto bytes (schemas/batch.capnp). `decode(encode(b)) == b` for every batch
// within the limits of batch.h (numbers that are "not negative" and are, become "none").
//
// Thread-safe, no state. Decoding trusts nothing: limits on size, nesting and every enum and
// list; a bad message gives an Error that names the field, never an exception or a crash. Memory
// made by decoding is at most some 40 times the message. docs/WIRE.md has the whole account.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/base/error.h"
#include "common/wire/batch.h"

namespace l4::wire {

inline constexpr std::size_t kMessageBytesMax = 64u << 20;  ///< longer ones are refused unread

/// Limits of single fields (batch.h); the decoder refuses a batch that breaks one.
inline constexpr std::size_t kTemplateTextBytesMax = 4096;
inline constexpr std::size_t kSkeletonsMax = 8;
inline constexpr std::size_t kOrderRunsMax = 4096;
inline constexpr std::size_t kParameterBytesMax = 128;
inline constexpr std::size_t kForgottenMax = 65'536;  ///< the sender splits

using Bytes = std::vector<std::byte>;

/// A single text or list must stay under the 2^29 elements of the format: the sender splits long
/// before that.
Bytes encode(const Batch& batch);
Result<Batch> decode(std::span<const std::byte> message);
/// Replaces the content of `batch`, whose lists keep their room; after an error it is unspecified.
Result<void> decode(std::span<const std::byte> message, Batch& batch);

}  // namespace l4::wire
