// A live aggregator in one process with agents that play recorded batches, over the simulated
// network and a clock of the test's own. For tests of aggregator/live.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/ship/session.h"
#include "aggregator/live/aggregator.h"
#include "common/wire/simulation/network.h"

namespace l4::test {

/// Batches of each node of a folder of logs, as the agents of `l4 diagnose` make them; each also
/// moves a file of its own on by a byte, so that positions tell them apart.
std::vector<std::vector<wire::Batch>> recorded(const std::filesystem::path& folder,
                                               const std::string& job);

/// One node: what it has to say outlives its connections.
class PlayedNode final : public ship::Pipeline {
 public:
  PlayedNode(std::string name, std::vector<wire::Batch> batches, std::uint64_t incarnation = 7);

  void connect(wire::simulation::Network& network);
  void disconnect();
  /// Offers at most `most` more batches.
  void step(wire::Instant now, std::size_t most = 1);
  void say_bye() { session_->stop("the test says so"); }
  bool done() const { return committed_ >= batches_.size(); }
  std::size_t done_batches() const { return committed_; }
  std::size_t offered() const { return next_; }
  const std::string& name() const { return name_; }
  void add(wire::Batch batch);

  void read_from(const std::vector<wire::Position>& committed) override;
  void committed(const std::vector<wire::Coverage>& coverage) override;
  void define_again(const std::string&, const std::vector<LocalTemplateId>&) override {}
  void asked(const wire::Ask&) override {}
  void said(std::string_view) override {}

 private:
  std::string name_;
  std::vector<wire::Batch> batches_;
  std::uint64_t key_, incarnation_;
  std::size_t next_ = 0, committed_ = 0;
  bool positions_known_ = false;
  std::unique_ptr<wire::ClientPort> port_;
  std::unique_ptr<ship::Session> session_;
};

/// What one test sees of the log and of the webhook. Any thread.
struct Heard {
  void say(const std::string& text);
  std::size_t count(const std::string& part) const;
  mutable std::mutex mutex;
  std::vector<std::string> lines;
};

class LiveWorld {
 public:
  explicit LiveWorld(std::filesystem::path folder, live::Options options = {});

  /// A new aggregator over what the folder holds.
  void start();
  void kill() { aggregator.reset(), port_.reset(); }
  /// Moves everything on by one step of 50 ms.
  void step();
  /// Until all nodes are done; false after `most` steps.
  bool settle(std::size_t most = 20'000);
  wire::Instant now() const;

  wire::simulation::Network network{1};
  Heard heard;
  live::Options options;
  std::atomic<std::int64_t> clock{1'800'000'000'000};
  std::vector<std::unique_ptr<PlayedNode>> nodes;

 private:
  std::unique_ptr<wire::ServerPort> port_;

 public:
  std::unique_ptr<live::Aggregator> aggregator;  ///< goes first
};

}  // namespace l4::test
