// A finder gives the same templates as the miner, with and without outlines, frozen or not.
#include "common/drain/finder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>

namespace l4::drain {
namespace {

std::string line(std::mt19937_64& random) {
  const auto number = [&] { return random() % (random() % 2 ? 20 : 1'000'000); };
  switch (random() % 7) {
    case 0:
      return fmt::format("loading shard {} of {} from /data/part-{}", number(), number(), number());
    case 1:
      return fmt::format("user u{}x logged in from host{}", number(), number());
    case 2:
      return fmt::format("worker {} left with exit code {}", number(), number());  // codes stay
    case 3:
      return fmt::format("NVRM: Xid (PCI:0000:{:02}:00): {}, pid={}", number() % 100, number() % 99,
                         number());
    case 4:
      return fmt::format("loss {}.{}e-{} at 10.{}.0.7:{}", number(), number(), number() % 9,
                         number() % 250, number() % 60'000);
    case 5:
      return fmt::format("took {}ms ({} of {})", number(), number(), number());
    default:
      return std::string(1 + random() % 5, 'w') + fmt::format(" alone {}", number());
  }
}

TEST_CASE("a finder finds the same templates as the miner") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  TemplateMiner miner;
  for (int i = 0; i < 300; ++i) miner.learn(line(random));
  for (const bool frozen : {false, true}) {
    if (frozen) miner.freeze();
    Finder finder(miner);
    std::size_t known = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::string text = line(random);
      CAPTURE(text);
      const auto id = miner.find(text);
      known += id ? 1 : 0;
      CHECK(finder.find(text, outline_of(text)) == id);
      CHECK(finder.find(text, {}) == id);
    }
    CHECK(known > 1000);
  }
}

}  // namespace
}  // namespace l4::drain
