// Whatever the network and both ends do, every byte of every file is counted once and in order.
// L4_LINK_SEEDS=N runs so many seeds (default 25); L4_LINK_SEED=S runs one.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/aggregator/receive/link_world.h"
#include "tests/temp_folder.h"

namespace l4::test {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// One random misfortune.
void mishap(LinkWorld& world, std::mt19937_64& random) {
  FakeNode& node = *world.nodes[random() % world.nodes.size()];
  switch (const auto which = random() % 40; which < 38 ? which % 9 : 9) {
    case 0:
      node.start();
      break;
    case 1:
      node.kill();
      break;
    case 2:
    case 3:
      world.start_server();
      break;
    case 4:
      world.crash_server();
      break;
    case 5:
      world.network.reset(node.address);
      break;
    case 6:
      world.network.cut(node.address, random() % 2 == 0);
      break;
    case 7:
      world.network.cut_server(random() % 2 == 0);
      break;
    case 8:
      if (world.server) world.ledger.fail(*world.server);
      break;
    default:  // rare: the aggregator's disk is gone
      world.crash_server();
      world.ledger.lose_everything();
      world.start_server();
      break;
  }
}

void play(std::uint64_t seed) {
  INFO("L4_LINK_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto share = [&](double most) {
    return random() % 2 == 0 ? 0.0 : most * static_cast<double>(random() % 100) / 100;
  };
  wire::simulation::LinkOptions link;
  link.loss = share(0.3);
  link.duplicate = share(0.3);
  link.delay_max = Millis{1 + static_cast<std::int64_t>(random() % 400)};
  link.reorder = random() % 2 == 0;
  LinkWorld world(seed, link);
  world.two_files_a_batch = random() % 2 == 0;
  world.ledger.commits_at_once = random() % 4 == 0;
  const TempFolder folder;
  ship::SessionOptions options;
  options.backoff_most = Millis{5'000};
  options.queue.memory_bytes_max = random() % 2 == 0 ? 2'000 : 4u << 20;
  options.queue.spool_bytes_max = random() % 3 == 0 ? 1u << 19 : 0;
  options.queue.spool = folder.path();
  const std::size_t nodes = 1 + random() % 3;
  for (std::size_t i = 0; i < nodes; ++i) {
    options.queue.spool = folder.path() / std::to_string(i);
    world.add("node-" + std::to_string(i), "10.0.0." + std::to_string(i), options);
  }
  world.start_server();
  for (auto& node : world.nodes) node->start();
  for (int i = 0; i < 40; ++i) {
    for (auto& node : world.nodes)
      for (std::uint64_t file = 1; file <= 3; ++file) node->write(file, random() % 30);
    if (random() % 3 == 0) mishap(world, random);
    world.run(Millis{static_cast<std::int64_t>(random() % 3'000)});
  }
  // All failures end.
  world.network.set({});
  world.network.cut_server(false);
  for (auto& node : world.nodes) {
    world.network.cut(node->address, false);
    if (!node->runs()) node->start();
  }
  if (!world.server) world.start_server();
  CHECK(world.settle(Millis{180'000}));
  for (const auto& fault : world.ledger.faults()) FAIL_CHECK(fault);
}

TEST_CASE("link: every byte is counted once, whatever happens") {
  if (const auto one = number_of("L4_LINK_SEED", 0); one != 0) return play(one);
  const auto seeds = number_of("L4_LINK_SEEDS", 25);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) play(seed);
}

}  // namespace
}  // namespace l4::test
