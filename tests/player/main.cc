// l4_player: agents that play batches to a real aggregator over the real wire, for tests.
//
//   l4_player play ENDPOINT KEYS FOLDER JOB RATE   logs of a folder, RATE batches/s for each node
//
// KEYS is a folder made by `l4 keys`: nodes/NODE.key, or nodes/fleet.key for all. Exits with 0 when
// everything is committed, however often the aggregator disappears meanwhile; prints the totals.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "common/wire/zmq/zmq_client.h"
#include "tests/aggregator/live/played_node.h"

namespace {

using namespace l4;
using test::PlayedNode;

wire::Instant now() {
  return {std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch()),
          std::chrono::floor<Millis>(std::chrono::system_clock::now())};
}

struct Player {
  std::string endpoint;
  std::filesystem::path keys;
  std::shared_ptr<wire::ZmqContext> context = std::make_shared<wire::ZmqContext>(20'000);
  std::vector<std::unique_ptr<PlayedNode>> nodes = {};

  PlayedNode& add(const std::string& name, std::vector<wire::Batch> batches) {
    auto file = keys / "nodes" / (name + ".key");
    if (!std::filesystem::exists(file)) file = keys / "nodes" / "fleet.key";
    auto key = wire::load_node_key(file);
    if (!key) fail(key.error());
    auto port = wire::make_zmq_client(context, {endpoint, std::move(*key)});
    if (!port) fail(port.error());
    const std::uint64_t incarnation = batches.at(0).coverage.back().file.key;
    nodes.push_back(std::make_unique<PlayedNode>(name, std::move(batches), incarnation));
    nodes.back()->connect(std::move(*port));
    return *nodes.back();
  }
  [[noreturn]] static void fail(const Error& error) {
    std::fprintf(stderr, "l4_player: %s\n", error.text().c_str());
    std::exit(2);
  }
  bool done() const {
    return std::ranges::all_of(nodes, [](const auto& node) { return node->done(); });
  }
  std::size_t committed() const {
    std::size_t sum = 0;
    for (const auto& node : nodes) sum += node->done_batches();
    return sum;
  }
};

void play(Player& player, const std::filesystem::path& folder, const std::string& job,
          double rate) {
  auto recorded = test::record_batches(folder, job);
  if (!recorded) Player::fail(recorded.error());
  for (auto& batches : *recorded) {
    const std::string name = batches.at(0).agent;
    player.add(name, std::move(batches));
  }
  const auto pause = std::chrono::duration<double>(1 / rate);
  while (!player.done()) {
    for (const auto& node : player.nodes) node->step(now());
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() < 6 || given[0] != "play") {
    std::fputs("l4_player: see the head of tests/player/main.cc\n", stderr);
    return 2;
  }
  Player player{given[1], given[2]};
  const auto begin = std::chrono::steady_clock::now();
  play(player, given[3], given[4], std::atof(given[5].c_str()));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{{\"nodes\": {}, \"batches\": {}, \"seconds\": {:.1f}}}\n", player.nodes.size(),
             player.committed(), seconds);
  return 0;
}
