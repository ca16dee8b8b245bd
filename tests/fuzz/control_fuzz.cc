// Arbitrary bytes as a message of the live wire.
#include "common/wire/codec/control_codec.h"
#include "common/wire/port.h"
#include "tests/fuzz/message_fuzz.h"

namespace {

using namespace l4::wire;

Bytes true_message(unsigned seed) {
  Hello hello;
  hello.agent = "node-0";
  PositionPage page;
  for (std::uint64_t key = 1; key < 1 + seed % 7; ++key)
    page.positions.push_back({{key, 1, 2, 3, 4}, "log", 100 * key, key});
  Welcome welcome;
  welcome.page = page;
  Heartbeat beat;
  beat.released = {1, 2, 3};
  const Want want{1, {{1, 2}, {3, 4}}};
  const Bytes body(seed % 64);
  const Control all[] = {hello,
                         welcome,
                         page,
                         beat,
                         HeartbeatReply{},
                         BatchFrame{1, body},
                         Ack{1, 2},
                         want,
                         Refuse{},
                         Bye{"x"},
                         Ask{1, "lines", body},
                         Answer{1, "lines", body, true},
                         MorePositions{3}};
  return encode(Envelope{seed, all[seed / 8 % std::size(all)]});
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return l4::fuzz::mutate_message(data, size, max_size, seed, true_message);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return l4::fuzz::check_message(
      data, size, [](std::span<const std::byte> bytes) { return decode_control(bytes); },
      [](const Envelope& envelope) { return encode(envelope); });
}
