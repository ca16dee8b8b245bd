// The ledger and the observer of an AgentServer in tests: a disk that may lose batches that are not
// durable yet, and a record of all events.
//
// The ledger notes every error: bytes counted twice or left out, a template used before its
// definition, a wrong order within a file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/receive/agent_server.h"

namespace l4::test {

/// The durable batches of the aggregator, and those that are not durable yet.
class FakeLedger final : public receive::Ledger {
 public:
  receive::AgentRecord load(const std::string& agent) override;
  void apply(receive::Ticket ticket, wire::Batch batch, std::span<const std::byte>) override;
  void release(const std::string& agent, const std::vector<std::uint64_t>& files) override;

  /// Makes the oldest `most` batches durable and notifies the server.
  void commit(receive::AgentServer& server, std::size_t most);
  void fail(receive::AgentServer& server);
  /// Loses the batches that are not durable.
  void crash();
  void lose_everything();
  /// Files of an agent with one line each.
  void prefill(const std::string& agent, std::uint64_t files);

  std::uint64_t counted(const std::string& agent, std::uint64_t file) const;
  /// The counted lines of all files of an agent.
  std::uint64_t lines(const std::string& agent) const;
  const std::vector<wire::ProcessFact>& processes() const { return processes_; }
  std::size_t pending() const { return pending_.size(); }
  const std::vector<std::string>& faults() const { return faults_; }
  const std::vector<wire::Warning>& warnings() const { return warnings_; }
  std::set<std::uint64_t> released;
  bool commits_at_once = false;
  receive::AgentServer* server = nullptr;  ///< needed for commits_at_once

 private:
  struct Agent {
    receive::AgentRecord record;
    std::set<std::uint32_t> defined;
  };
  static void count(Agent& agent, const wire::Batch& batch, std::vector<std::string>* faults);
  std::map<std::string, Agent> durable_, applied_;
  std::vector<std::pair<receive::Ticket, wire::Batch>> pending_;
  std::vector<std::string> faults_;
  std::vector<wire::Warning> warnings_;
  std::vector<wire::ProcessFact> processes_;
};

/// Records all events.
struct FakeObserver final : receive::Observer {
  void event(const receive::AgentEvent& event) override { events.push_back(event); }
  void notice(const std::string& text) override { notices.push_back(text); }
  void answered(const std::string& agent, const wire::Answer& answer) override {
    answers.emplace_back(agent, answer);
  }
  std::size_t count(receive::AgentEvent::Kind kind, const std::string& agent = {}) const;

  std::vector<receive::AgentEvent> events;
  std::vector<std::string> notices;
  std::vector<std::pair<std::string, wire::Answer>> answers;
};

}  // namespace l4::test
