#include "aggregator/flows/decode/samples.h"

#include <doctest/doctest.h>

#include <vector>

namespace l4::flows::decode {
namespace {

FlowRecord sample_at(TimeNs at, std::uint16_t port = 50'000, std::uint64_t packets = 1024) {
  FlowRecord one;
  one.start = one.end = kSecond + at;
  one.src = Address::of_ipv4(0x0a000001);
  one.dst = Address::of_ipv4(0x0a000002);
  one.src_port = port;
  one.packets = packets;
  one.bytes = packets * 4000;
  return one;
}

struct Joined {
  void give(const std::vector<FlowRecord>& all) {
    for (const FlowRecord& one : all) samples.add(one);
    samples.finish();
  }
  std::vector<FlowRecord> got;
  Sink sink = [this](const FlowRecord& one) { got.push_back(one); };
  Samples samples{sink};
};

TEST_CASE("samples: those of a connection that stand close are one transfer") {
  Joined joined;
  std::vector<FlowRecord> all;
  for (int burst = 0; burst < 3; ++burst)
    for (int i = 0; i < 200; ++i)
      all.push_back(sample_at((burst * 1000 + i) * kMillisecond,
                              i % 2 == 0 ? std::uint16_t{50'000} : std::uint16_t{50'001}));
  joined.give(all);
  CHECK(joined.samples.rate() == 1024);
  REQUIRE(joined.got.size() == 6);  // two connections in three bursts
  for (const FlowRecord& one : joined.got) {
    CHECK(one.packets == 100 * 1024);
    CHECK(one.bytes == 100 * 1024 * 4000);
    CHECK(one.end - one.start == 198 * kMillisecond);
  }
}

TEST_CASE("samples: a transfer that goes on is cut") {
  Joined joined;
  std::vector<FlowRecord> all;
  for (int i = 0; i < 300; ++i) all.push_back(sample_at(i * 10 * kMillisecond));
  joined.give(all);
  CHECK(joined.got.size() == 3);
}

TEST_CASE("samples: records with a length, or of many sizes, are passed on as they are") {
  Joined timed, sized;
  std::vector<FlowRecord> all{sample_at(0), sample_at(kMillisecond)};
  all.back().end += kMillisecond;
  timed.give(all);
  CHECK(timed.samples.rate() == 0);
  CHECK(timed.got.size() == 2);
  all.clear();
  for (std::uint64_t i = 0; i < 20; ++i)
    all.push_back(sample_at(static_cast<TimeNs>(i) * kMillisecond, 50'000, 16 + i));
  sized.give(all);
  CHECK(sized.samples.rate() == 0);
  CHECK(sized.got.size() == 20);
}

}  // namespace
}  // namespace l4::flows::decode
