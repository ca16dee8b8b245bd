#include "tests/aggregator/receive/link_world.h"

#include <algorithm>
#include <utility>

namespace l4::test {

FakeNode::FakeNode(std::string node_name, std::string node_address, MakePort make_port,
                   std::uint64_t seed, ship::SessionOptions options)
    : name(std::move(node_name)),
      address(std::move(node_address)),
      make_port_(std::move(make_port)),
      random_(seed),
      options_(std::move(options)) {}

void FakeNode::start() {
  kill();
  read_.clear();
  defined_.clear();
  positions_known_ = false;
  options_.agent = name;
  options_.incarnation = random_();
  options_.seed = random_();
  options_.software = "l4 test";
  port_ = make_port_();
  session_ = std::make_unique<ship::Session>(options_, *port_, *this);
}

void FakeNode::kill() {
  session_.reset();
  port_.reset();
}

wire::Batch FakeNode::batch_of(const std::vector<std::uint64_t>& keys) {
  wire::Batch batch;
  batch.job = "job";
  for (const std::uint64_t key : keys) {
    const std::uint64_t from = read_[key];
    const std::uint64_t to = std::min(files_[key], from + 1 + random_() % 20);
    read_[key] = to;
    wire::FileId file;
    file.key = key;
    batch.coverage.push_back({"log-" + std::to_string(key), {from, to}, to - from, to, file});
    const LocalTemplateId id{static_cast<std::uint32_t>(random_() % 50)};
    wire::Segment segment;
    segment.events.push_back({id, 1, 1, std::nullopt});
    segment.order.push_back({id, 1});
    batch.segments.push_back(segment);
    if (!defined_.insert(id.value()).second) continue;
    wire::TemplateDefinition definition;
    definition.id = id;
    definition.text = "template";
    batch.templates.push_back(definition);
  }
  return batch;
}

void FakeNode::read(bool two_files_a_batch) {
  if (!positions_known_) return;
  std::vector<std::uint64_t> ready;
  for (const auto& [key, size] : files_)
    if (read_[key] < size) ready.push_back(key);
  for (std::size_t i = 0; i < ready.size() && session_->has_room(); ++i) {
    std::vector<std::uint64_t> keys{ready[i]};
    if (two_files_a_batch && i + 1 < ready.size()) keys.push_back(ready[++i]);
    session_->offer(batch_of(keys));
  }
}

void FakeNode::step(wire::Instant now) {
  if (session_) session_->step(now);
}

void FakeNode::read_from(const std::vector<wire::Position>& positions) {
  read_.clear();
  defined_.clear();
  for (const auto& position : positions) read_[position.file.key] = position.offset;
  positions_known_ = true;
}

void FakeNode::committed(const std::vector<wire::Coverage>& coverage) {
  for (const auto& part : coverage) committed_bytes += part.bytes.to - part.bytes.from;
}

LinkWorld::LinkWorld(std::uint64_t seed, wire::simulation::LinkOptions link,
                     receive::ServerOptions options)
    : network(seed, link), seed_(seed), server_options_(std::move(options)) {
  network.advance(now.steady);
}

FakeNode& LinkWorld::add(const std::string& name, const std::string& address,
                         ship::SessionOptions options) {
  nodes.push_back(std::make_unique<FakeNode>(
      name, address, [this, name, address] { return network.client(name, address); },
      seed_ * 1000 + nodes.size(), std::move(options)));
  return *nodes.back();
}

void LinkWorld::start_server() {
  crash_server();
  server_port_ = network.server();
  ++server_options_.incarnation;
  server =
      std::make_unique<receive::AgentServer>(server_options_, *server_port_, ledger, observer, now);
  ledger.server = server.get();
}

void LinkWorld::crash_server() {
  server.reset();
  server_port_.reset();
  ledger.server = nullptr;
  ledger.crash();
}

void LinkWorld::run(Millis span) {
  constexpr Millis kStep{50};
  for (Millis gone{0}; gone < span; gone += kStep) {
    now.steady += kStep;
    now.wall += kStep;
    network.advance(now.steady);
    for (auto& node : nodes) {
      if (!node->runs()) continue;
      node->step(now);
      node->read(two_files_a_batch);
    }
    if (!server) continue;
    server->step(now);
    if (commits && now.steady.count() % 200 == 0) ledger.commit(*server, 1000);
  }
}

bool LinkWorld::everything_counted() const {
  return std::ranges::all_of(nodes, [&](const auto& node) {
    return std::ranges::all_of(node->files(), [&](const auto& file) {
      return ledger.counted(node->name, file.first) == file.second;
    });
  });
}

bool LinkWorld::settle(Millis most) {
  for (Millis gone{0}; gone < most && !everything_counted(); gone += Millis{500}) run(Millis{500});
  return everything_counted();
}

}  // namespace l4::test
