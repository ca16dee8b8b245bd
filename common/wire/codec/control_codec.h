// Envelope <-> Cap'n Proto bytes (schemas/control.capnp).
//
// Thread-safe, no state. Decoding trusts nothing: limits on size, nesting and every text and list;
// a bad message gives an Error that names the field, never an exception or a crash. The body of a
// batch stays encoded; batch_codec.h decodes it.
#pragma once

#include <span>

#include "common/base/error.h"
#include "common/wire/control.h"

namespace l4::wire {

/// The most bytes that the envelope adds to a batch: the longest batch is this much shorter than
/// the longest message.
inline constexpr std::size_t kEnvelopeBytesMax = 256;

Bytes encode(const Envelope& envelope);
/// A batch's body points into `message`, which must outlive it.
Result<Envelope> decode_control(std::span<const std::byte> message);

/// Bytes that a position takes in a page: pages are filled up to the size of a message.
std::size_t encoded_bytes(const Position& position);

}  // namespace l4::wire
