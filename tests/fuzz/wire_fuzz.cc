// Arbitrary bytes as a batch.
#include "common/wire/codec/batch_codec.h"
#include "tests/common/wire/codec/random_batch.h"
#include "tests/fuzz/message_fuzz.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return l4::fuzz::mutate_message(data, size, max_size, seed, [](unsigned from) {
    return l4::wire::encode(l4::wire::RandomBatch(from).batch());
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return l4::fuzz::check_message(
      data, size, [](std::span<const std::byte> bytes) { return l4::wire::decode(bytes); },
      [](const l4::wire::Batch& batch) { return l4::wire::encode(batch); });
}
