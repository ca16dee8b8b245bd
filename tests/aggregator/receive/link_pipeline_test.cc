// Agents and aggregator on threads of their own, over the simulated network, for the thread
// sanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/aggregator/receive/link_world.h"

namespace l4::test {
namespace {

TEST_CASE("link pipeline: ends on different threads share the network alone") {
  constexpr int kNodes = 3;
  constexpr std::uint64_t kLines = 200;
  wire::simulation::Network network(3, {0.05, 0.05, Millis{1}, Millis{20}, true});
  std::atomic<std::int64_t> clock{1'000'000};
  std::atomic<bool> done{false};
  const auto now = [&] { return wire::Instant{Millis{clock}, TimeMs{Millis{clock}}}; };
  FakeLedger ledger;
  FakeObserver observer;
  auto port = network.server();
  receive::AgentServer server({}, *port, ledger, observer, now());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kNodes; ++i)
      threads.emplace_back([&, i] {
        const std::string name = "node-" + std::to_string(i);
        FakeNode node(
            name, "10.0.0.1", [&] { return network.client(name, "10.0.0.1"); },
            static_cast<std::uint64_t>(i));
        node.write(1, kLines);
        node.start();
        while (!done) {
          node.step(now());
          node.read(false);
          std::this_thread::yield();
        }
      });
    const auto counted = [&] {
      std::uint64_t lines = 0;
      for (int i = 0; i < kNodes; ++i) lines += ledger.counted("node-" + std::to_string(i), 1);
      return lines == kNodes * kLines;
    };
    for (int i = 0; i < 10'000'000 && !counted(); ++i) {
      network.advance(Millis{clock += 20});
      server.step(now());
      ledger.commit(server, 10);
      std::this_thread::yield();
    }
    done = true;
  }
  for (int i = 0; i < kNodes; ++i) CHECK(ledger.counted("node-" + std::to_string(i), 1) == kLines);
  CHECK(ledger.faults().empty());
}

}  // namespace
}  // namespace l4::test
