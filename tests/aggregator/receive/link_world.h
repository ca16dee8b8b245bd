// Agents, their files, the aggregator and what it has on disk, all in one thread over the simulated
// network: what happens follows from a seed. For tests of both ends of the link.
//
// A file is a number of lines of one byte. The ledger notes whatever is not as it must be: bytes
// counted twice or left out, a template used before it was defined, order within a file broken.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "agent/ship/session.h"
#include "aggregator/receive/agent_server.h"
#include "common/wire/simulation/network.h"

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

/// One node: files that outlive the agent, and the agent as long as it runs.
class FakeNode final : public ship::Pipeline {
 public:
  using MakePort = std::function<std::unique_ptr<wire::ClientPort>()>;
  FakeNode(std::string name, std::string address, MakePort make_port, std::uint64_t seed,
           ship::SessionOptions options = {});

  void start();
  void kill();
  bool runs() const { return session_ != nullptr; }
  ship::Session& session() { return *session_; }
  void write(std::uint64_t file, std::uint64_t lines) { files_[file] += lines; }
  /// Reads before it is told from where; `remembers`: all that the aggregator may name.
  void begin_alone(bool remembers) {
    positions_known_ = true;
    remembers_ = remembers;
  }
  void read_alone(std::uint64_t file, std::uint64_t to) { read_[file] = to; }
  /// Offers what was written, if it knows from where.
  void read(bool two_files_a_batch);
  void step(wire::Instant now);
  std::uint64_t size(std::uint64_t file) const { return files_.at(file); }
  const std::map<std::uint64_t, std::uint64_t>& files() const { return files_; }

  void read_from(const std::vector<wire::Position>& committed) override;
  void committed(const std::vector<wire::Coverage>& coverage) override;
  void define_again(const std::string& job, const std::vector<LocalTemplateId>& ids) override;
  void asked(const wire::Ask& question) override { asked_.push_back(question); }
  bool knows(std::uint64_t) const override { return remembers_; }
  void said(std::string_view what) override { sayings.emplace_back(what); }

  std::string name, address;
  std::vector<std::string> sayings;
  std::vector<wire::Ask> asked_;
  std::uint64_t committed_bytes = 0;

 private:
  wire::Batch batch_of(const std::vector<std::uint64_t>& keys);

  MakePort make_port_;
  std::mt19937_64 random_;
  ship::SessionOptions options_;
  std::map<std::uint64_t, std::uint64_t> files_;  ///< key -> bytes
  std::map<std::uint64_t, std::uint64_t> read_;   ///< of the running agent
  std::set<std::uint32_t> defined_;
  bool positions_known_ = false, remembers_ = true;
  std::unique_ptr<wire::ClientPort> port_;
  std::unique_ptr<ship::Session> session_;
};

class LinkWorld {
 public:
  explicit LinkWorld(std::uint64_t seed, wire::simulation::LinkOptions link = {},
                     receive::ServerOptions server = {});

  FakeNode& add(const std::string& name, const std::string& address,
                ship::SessionOptions options = {});
  void start_server();
  void crash_server();
  /// Moves all clocks on by `span` in steps of 50 ms; commits every 200 ms.
  void run(Millis span);
  /// Until everything that was written is committed; false if it takes longer than `most`.
  bool settle(Millis most);
  bool everything_counted() const;

  wire::simulation::Network network;
  FakeLedger ledger;
  FakeObserver observer;
  std::vector<std::unique_ptr<FakeNode>> nodes;
  std::unique_ptr<receive::AgentServer> server;
  wire::Instant now{Millis{1'000'000}, TimeMs{Millis{1'700'000'000'000}}};
  bool two_files_a_batch = false, commits = true;

 private:
  std::uint64_t seed_;
  receive::ServerOptions server_options_;
  std::unique_ptr<wire::ServerPort> server_port_;
};

}  // namespace l4::test
