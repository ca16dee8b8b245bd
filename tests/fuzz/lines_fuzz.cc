// Arbitrary bytes as a question for raw lines, and as an answer.
#include "common/wire/codec/lines_codec.h"
#include "tests/common/wire/codec/lines_made.h"
#include "tests/fuzz/message_fuzz.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return l4::fuzz::mutate_message(data, size, max_size, seed, [](unsigned from) {
    return from / 8 % 2 == 0 ? l4::wire::encode(l4::test::made_question(from / 16))
                             : l4::wire::encode(l4::test::made_answer(from / 16));
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  l4::fuzz::check_message(
      data, size,
      [](std::span<const std::byte> bytes) { return l4::wire::decode_lines_question(bytes); },
      [](const l4::wire::LinesQuestion& question) { return l4::wire::encode(question); });
  return l4::fuzz::check_message(
      data, size,
      [](std::span<const std::byte> bytes) { return l4::wire::decode_lines_answer(bytes); },
      [](const l4::wire::LinesAnswer& answer) { return l4::wire::encode(answer); });
}
