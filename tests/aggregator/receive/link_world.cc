#include "tests/aggregator/receive/link_world.h"

#include <algorithm>
#include <utility>

namespace l4::test {

receive::AgentRecord FakeLedger::load(const std::string& agent) {
  return durable_[agent].record;
}

void FakeLedger::count(Agent& agent, const wire::Batch& batch, std::vector<std::string>* faults) {
  const auto wrong = [&](const std::string& what) {
    if (faults != nullptr) faults->push_back(batch.agent + ": " + what);
  };
  auto& record = agent.record;
  if (record.incarnation != batch.incarnation) agent.defined.clear();
  if (record.incarnation == batch.incarnation && batch.sequence <= record.last_sequence)
    wrong("batch " + std::to_string(batch.sequence) + " again");
  record.incarnation = batch.incarnation;
  record.last_sequence = batch.sequence;
  for (const auto& definition : batch.templates) agent.defined.insert(definition.id.value());
  for (const auto& segment : batch.segments)
    for (const auto& event : segment.events)
      if (!agent.defined.contains(event.id.value())) wrong("a template was never defined");
  for (const auto& part : batch.coverage) {
    auto at = std::ranges::lower_bound(record.positions, part.file.key, {},
                                       [](const auto& one) { return one.file.key; });
    if (at == record.positions.end() || at->file.key != part.file.key)
      at = record.positions.insert(at, {part.file, part.path, 0, 0});
    if (at->offset != part.bytes.from) wrong("bytes twice or left out");
    at->offset = part.bytes.to;
    at->lines += part.lines;
  }
}

void FakeLedger::apply(receive::Ticket ticket, wire::Batch batch, std::span<const std::byte>) {
  count(applied_[batch.agent], batch, &faults_);
  warnings_.insert(warnings_.end(), batch.warnings.begin(), batch.warnings.end());
  pending_.emplace_back(ticket, std::move(batch));
  if (commits_at_once && server != nullptr) commit(*server, 1);
}

void FakeLedger::commit(receive::AgentServer& to, std::size_t most) {
  for (std::size_t i = 0; i < most && !pending_.empty(); ++i) {
    const auto [ticket, batch] = std::move(pending_.front());
    pending_.erase(pending_.begin());
    count(durable_[batch.agent], batch, &faults_);
    processes_.insert(processes_.end(), batch.processes.begin(), batch.processes.end());
    to.committed(ticket);
  }
}

void FakeLedger::fail(receive::AgentServer& to) {
  const auto pending = std::exchange(pending_, {});
  applied_ = durable_;
  for (const auto& [ticket, batch] : pending) to.failed(ticket);
}

void FakeLedger::crash() {
  pending_.clear();
  applied_ = durable_;
}

void FakeLedger::lose_everything() {
  durable_.clear();
  crash();
}

void FakeLedger::prefill(const std::string& agent, std::uint64_t files) {
  auto& record = durable_[agent].record;
  for (std::uint64_t key = 1; key <= files; ++key)
    record.positions.push_back({{key, 0, 0, 0, 0}, "log-" + std::to_string(key), 1, 1});
  applied_ = durable_;
}

void FakeLedger::release(const std::string&, const std::vector<std::uint64_t>& files) {
  released.insert(files.begin(), files.end());
}

std::uint64_t FakeLedger::counted(const std::string& agent, std::uint64_t file) const {
  const auto known = durable_.find(agent);
  if (known == durable_.end()) return 0;
  for (const auto& position : known->second.record.positions)
    if (position.file.key == file) return position.lines;
  return 0;
}

std::uint64_t FakeLedger::lines(const std::string& agent) const {
  std::uint64_t lines = 0;
  if (const auto known = durable_.find(agent); known != durable_.end())
    for (const auto& position : known->second.record.positions) lines += position.lines;
  return lines;
}

std::size_t FakeObserver::count(receive::AgentEvent::Kind kind, const std::string& agent) const {
  return static_cast<std::size_t>(std::ranges::count_if(events, [&](const auto& event) {
    return event.kind == kind && (agent.empty() || event.agent == agent);
  }));
}

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

void FakeNode::define_again(const std::string&, const std::vector<LocalTemplateId>& ids) {
  for (const LocalTemplateId id : ids) defined_.erase(id.value());
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
