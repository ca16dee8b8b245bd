// Shared code of the targets of encoded messages: half of the inputs are made from valid messages,
// so that damage lies deeper than the first pointer, and an accepted message survives encoding.
#pragma once

#include <cstring>
#include <span>

#include "tests/fuzz/fuzz_input.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace l4::fuzz {

/// `make(seed)` returns the bytes of a valid message.
template <class Make>
std::size_t mutate_message(std::uint8_t* data, std::size_t size, std::size_t max_size,
                           unsigned seed, Make make) {
  if (seed % 8 == 0) {
    const auto bytes = make(seed);
    if (bytes.size() <= max_size) {
      std::memcpy(data, bytes.data(), bytes.size());
      size = bytes.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

/// The bytes are refused with a reason, or their value is equal after encoding and decoding it.
template <class Decode, class Encode>
int check_message(const std::uint8_t* data, std::size_t size, Decode decode, Encode encode) {
  const auto value = decode(std::as_bytes(std::span(data, size)));
  if (!value) {
    require(!value.error().reason.empty(), "a refusal has a reason");
    return 0;
  }
  const auto bytes = encode(*value);
  const auto again = decode(bytes);
  require(again.has_value(), "what was decoded can be encoded");
  require(encode(*again) == bytes, "and stays what it is");
  return 0;
}

}  // namespace l4::fuzz
