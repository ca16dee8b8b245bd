#include "tests/aggregator/live/live_world.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace l4::test {

std::vector<std::vector<wire::Batch>> recorded(const std::filesystem::path& folder,
                                               const std::string& job) {
  auto batches = record_batches(folder, job);
  REQUIRE_MESSAGE(batches, (batches ? std::string() : batches.error().text()));
  return std::move(*batches);
}

void Heard::say(const std::string& text) {
  const std::lock_guard lock(mutex);
  lines.push_back(text);
}

std::size_t Heard::count(const std::string& part) const {
  const std::lock_guard lock(mutex);
  return static_cast<std::size_t>(std::ranges::count_if(
      lines, [&](const std::string& line) { return line.find(part) != std::string::npos; }));
}

LiveWorld::LiveWorld(std::filesystem::path folder, live::Options given)
    : options(std::move(given)) {
  options.store.folder = std::move(folder);
  options.store.commit.delay_max = Millis{1};
  network.advance(now().steady);
}

wire::Instant LiveWorld::now() const {
  return {Millis{clock}, TimeMs{Millis{clock}}};
}

void LiveWorld::start() {
  kill();
  port_ = network.server();
  ++options.server.incarnation;
  live::Surroundings around{*port_, nullptr, {}, {}, {}, *files};
  around.say = [this](const std::string& text) { heard.say(text); };
  around.now = [this] { return now(); };
  around.post = [](const alert::Request&) -> Result<unsigned> { return 200; };
  auto made = live::Aggregator::recover(options, std::move(around));
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().text()));
  aggregator = std::move(*made);
}

PlayedNode& LiveWorld::add(std::string name, std::vector<wire::Batch> batches) {
  nodes.push_back(std::make_unique<PlayedNode>(std::move(name), std::move(batches)));
  nodes.back()->connect(network.client(nodes.back()->name(), "10.0.0.1"));
  return *nodes.back();
}

void LiveWorld::step() {
  clock += 50;
  network.advance(now().steady);
  for (const auto& node : nodes) node->step(now());
  if (aggregator) aggregator->step_all(patient);
}

bool LiveWorld::settle(std::size_t most) {
  for (std::size_t i = 0; i < most; ++i) {
    if (std::ranges::all_of(nodes, [](const auto& node) { return node->done(); })) return true;
    step();
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // the store has threads
  }
  return false;
}

}  // namespace l4::test
