// What stands behind an AgentServer in tests: a disk that may lose what is not durable yet, and
// somebody who notes what happens.
//
// The ledger notes whatever is not as it must be: bytes counted twice or left out, a template used
// before it was defined, order within a file broken.
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

/// What is on the disk of the aggregator, and what is not there yet.
class FakeLedger final : public receive::Ledger {
 public:
  receive::AgentRecord load(const std::string& agent) override;
  void apply(receive::Ticket ticket, wire::Batch batch, std::span<const std::byte>) override;
  void release(const std::string& agent, const std::vector<std::uint64_t>& files) override;

  /// The oldest `most` batches become durable, and the server is told.
  void commit(receive::AgentServer& server, std::size_t most);
  void fail(receive::AgentServer& server);
  /// What is not durable is gone.
  void crash();
  void lose_everything();
  /// So many files of an agent, one line each.
  void prefill(const std::string& agent, std::uint64_t files);

  std::uint64_t counted(const std::string& agent, std::uint64_t file) const;
  /// Of all files of an agent.
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

/// Notes everything.
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
