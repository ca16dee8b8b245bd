// Agents, their files, the aggregator and its disk, in one thread over the simulated network: a
// seed determines every event. For tests of both ends of the link.
//
// A file is a number of lines of one byte. The disk of the aggregator is a FakeLedger.
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
#include "tests/aggregator/receive/fake_ledger.h"

namespace l4::test {

/// One node: files that outlive the agent, and the agent while it runs.
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
  /// Begins to read before it gets positions; `remembers`: it has saved all positions that the
  /// aggregator may name.
  void begin_alone(bool remembers) {
    positions_known_ = true;
    remembers_ = remembers;
  }
  void read_alone(std::uint64_t file, std::uint64_t to) { read_[file] = to; }
  /// Offers the written lines, if the positions are known.
  void read(bool two_files_a_batch);
  void step(wire::Instant now);
  std::uint64_t size(std::uint64_t file) const { return files_.at(file); }
  const std::map<std::uint64_t, std::uint64_t>& files() const { return files_; }

  void read_from(const std::vector<wire::Position>& committed) override;
  void committed(const std::vector<wire::Coverage>& coverage) override;
  void question(const wire::Ask& question) override { asked_.push_back(question); }
  bool knows(std::uint64_t) const override { return remembers_; }
  bool notify(ship::NoticeKind kind, std::string_view what) override {
    sayings.emplace_back(what);
    kinds.push_back(kind);
    return tells;
  }

  std::string name, address;
  std::vector<std::string> sayings;
  std::vector<ship::NoticeKind> kinds;  ///< kinds of the notices in `sayings`
  bool tells = true;                    ///< the result of notify()
  std::vector<wire::Ask> asked_;
  std::uint64_t committed_bytes = 0;

 private:
  wire::Batch batch_of(const std::vector<std::uint64_t>& keys);

  MakePort make_port_;
  std::mt19937_64 random_;
  ship::SessionOptions options_;
  std::map<std::uint64_t, std::uint64_t> files_;  ///< key -> bytes
  std::map<std::uint64_t, std::uint64_t> read_;   ///< bytes that the running agent has read
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
  /// Runs until every written byte is committed; false if that takes longer than `most`.
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
