#include "tests/aggregator/receive/fake_ledger.h"

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

}  // namespace l4::test
