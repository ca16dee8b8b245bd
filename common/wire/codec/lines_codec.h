// LinesQuestion, LinesAnswer <-> Cap'n Proto bytes (schemas/lines.capnp).
// Thread-safe, no state. Decoding trusts nothing, on either side: a bad message gives an Error that
// names the field, never an exception or a crash. The decoded value is at most a few times as large
// as the message.
#pragma once

#include <span>

#include "common/base/error.h"
#include "common/wire/limits.h"
#include "common/wire/lines.h"

namespace l4::wire {

Bytes encode(const LinesQuestion& question);
Bytes encode(const LinesAnswer& answer);
Result<LinesQuestion> decode_lines_question(std::span<const std::byte> bytes);
Result<LinesAnswer> decode_lines_answer(std::span<const std::byte> bytes);

/// Bytes that a line takes in an answer, to fill parts by.
std::size_t encoded_bytes(const RawLine& line);

}  // namespace l4::wire
