// Any bytes as a message: refused with a reason or a batch that survives the way back. Half of the
// inputs are made from true messages, so that damage lies deeper than the first pointer.
#include <cstring>
#include <span>

#include "common/wire/codec.h"
#include "tests/common/wire/random_batch.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  if (seed % 8 == 0) {
    const auto bytes = l4::wire::encode(l4::wire::RandomBatch(seed).batch());
    if (bytes.size() <= max_size) {
      std::memcpy(data, bytes.data(), bytes.size());
      size = bytes.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using l4::fuzz::require;
  const auto batch = l4::wire::decode(std::as_bytes(std::span(data, size)));
  if (!batch) {
    require(!batch.error().reason.empty(), "a refusal has a reason");
    return 0;
  }
  const auto bytes = l4::wire::encode(*batch);
  const auto again = l4::wire::decode(bytes);
  require(again.has_value(), "what was decoded can be encoded");
  require(l4::wire::encode(*again) == bytes, "and stays what it is");
  return 0;
}
