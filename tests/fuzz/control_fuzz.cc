// Any bytes as a message of the live wire: refused with a reason, or something that survives the
// way back.
#include <cstring>
#include <span>

#include "common/wire/control_codec.h"
#include "common/wire/port.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace l4::wire;

/// A true message, so that damage lies deeper than the first pointer.
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
  const Want want{1, {{1, 2}, {3, 4}}, "job", {l4::LocalTemplateId{5}}};
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
  if (seed % 8 == 0) {
    const auto bytes = true_message(seed);
    if (bytes.size() <= max_size) {
      std::memcpy(data, bytes.data(), bytes.size());
      size = bytes.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using l4::fuzz::require;
  const auto envelope = decode_control(std::as_bytes(std::span(data, size)));
  if (!envelope) {
    require(!envelope.error().reason.empty(), "a refusal has a reason");
    return 0;
  }
  const auto bytes = encode(*envelope);
  const auto again = decode_control(bytes);
  require(again.has_value(), "what was decoded can be encoded");
  require(encode(*again) == bytes, "and stays what it is");
  return 0;
}
