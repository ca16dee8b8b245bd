#include "tests/aggregator/live/live_world.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "agent/discover/discover.h"
#include "agent/node_agent.h"

namespace l4::test {
namespace {

/// Keeps what is sent.
class Kept final : public wire::Sender {
 public:
  explicit Kept(std::vector<wire::Batch>& batches) : batches_(batches) {}
  bool send(wire::Batch batch) override {
    batches_.push_back(std::move(batch));
    return true;
  }

 private:
  std::vector<wire::Batch>& batches_;
};

std::uint64_t key_of(const std::string& text) {
  return std::hash<std::string>{}(text) | 1U;
}

}  // namespace

std::vector<std::vector<wire::Batch>> recorded(const std::filesystem::path& folder,
                                               const std::string& job) {
  const std::filesystem::path config = std::filesystem::path(L4_SOURCE_DIR) / "config";
  const auto packs = segment::RulePackSet::load(config / "frameworks");
  REQUIRE(packs);
  auto found = discover::discover({folder}, {});
  REQUIRE(found);
  std::map<std::string, std::vector<discover::LogFile>> files;
  for (discover::LogFile& file : found->files) files[file.node].push_back(std::move(file));
  std::vector<std::vector<wire::Batch>> all;
  for (auto& [node, logs] : files) {
    agent::Options options;
    options.segments_per_batch = 4;
    agent::NodeAgent reader(node, std::move(logs), *packs, options);
    Kept kept(all.emplace_back());
    std::atomic<std::uint64_t> bytes{0};
    reader.read_all(kept, bytes, {});
    std::uint64_t number = 0;
    for (wire::Batch& batch : all.back()) {
      batch.job = job;
      for (wire::Coverage& part : batch.coverage) part.file.key = key_of(node + part.path);
      wire::Coverage own{"progress of " + node, {number, number + 1}, 0, number + 1, {}};
      own.file.key = key_of(node);
      batch.coverage.push_back(own);
      ++number;
    }
  }
  return all;
}

PlayedNode::PlayedNode(std::string name, std::vector<wire::Batch> batches,
                       std::uint64_t incarnation)
    : name_(std::move(name)),
      batches_(std::move(batches)),
      key_(key_of(name_)),
      incarnation_(incarnation) {}

void PlayedNode::add(wire::Batch batch) {
  wire::Coverage own{"progress of " + name_, {batches_.size(), batches_.size() + 1}, 0, 0, {}};
  own.file.key = key_;
  batch.coverage.push_back(own);
  batches_.push_back(std::move(batch));
}

void PlayedNode::connect(wire::simulation::Network& network) {
  disconnect();
  ship::SessionOptions options;
  options.agent = name_;
  options.incarnation = incarnation_;
  options.seed = key_;
  options.software = "l4 test";
  port_ = network.client(name_, "10.0.0.1");
  session_ = std::make_unique<ship::Session>(options, *port_, *this);
}

void PlayedNode::disconnect() {
  session_.reset();
  port_.reset();
  positions_known_ = false;
}

void PlayedNode::step(wire::Instant now, std::size_t most) {
  if (!session_) return;
  session_->step(now);
  for (; most > 0 && positions_known_ && next_ < batches_.size() && session_->has_room(); --most)
    session_->offer(batches_[next_++]);
  session_->step(now);
}

void PlayedNode::read_from(const std::vector<wire::Position>& positions) {
  next_ = 0;
  for (const wire::Position& position : positions)
    if (position.file.key == key_) next_ = position.offset;
  committed_ = next_;
  positions_known_ = true;
}

void PlayedNode::committed(const std::vector<wire::Coverage>& coverage) {
  for (const wire::Coverage& part : coverage)
    if (part.file.key == key_) committed_ = std::max<std::size_t>(committed_, part.bytes.to);
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
  live::Surroundings around{*port_, nullptr, {}, {}, {}};
  around.say = [this](const std::string& text) { heard.say(text); };
  around.now = [this] { return now(); };
  around.post = [](const std::string&, const std::string&) -> Result<unsigned> { return 200; };
  auto made = live::Aggregator::recover(options, std::move(around));
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().text()));
  aggregator = std::move(*made);
}

void LiveWorld::step() {
  clock += 50;
  network.advance(now().steady);
  for (const auto& node : nodes) node->step(now());
  if (aggregator) aggregator->step_all();
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
