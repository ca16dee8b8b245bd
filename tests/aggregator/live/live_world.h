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

#include "aggregator/live/aggregator.h"
#include "common/wire/simulation/network.h"
#include "tests/aggregator/live/played_node.h"

namespace l4::test {

/// record_batches() of a folder that can be read.
std::vector<std::vector<wire::Batch>> recorded(const std::filesystem::path& folder,
                                               const std::string& job);

/// The log and the webhook's alerts, as one test sees them. Any thread.
struct Heard {
  void say(const std::string& text);
  std::size_t count(const std::string& part) const;
  mutable std::mutex mutex;
  std::vector<std::string> lines;
};

class LiveWorld {
 public:
  explicit LiveWorld(std::filesystem::path folder, live::Options options = {});

  /// Starts a new aggregator on the folder.
  void start();
  void kill() { aggregator.reset(), port_.reset(); }
  PlayedNode& add(std::string name, std::vector<wire::Batch> batches);
  /// Lets one step of 50 ms pass for everything.
  void step();
  /// Steps until all nodes are done; false after `most` steps.
  bool settle(std::size_t most = 300'000);
  wire::Instant now() const;

  wire::simulation::Network network{1};
  bool patient = false;  ///< each step waits until everything is on disk
  Heard heard;
  live::Options options;
  store::Files* files = &store::system_files();
  std::atomic<std::int64_t> clock{1'800'000'000'000};
  std::vector<std::unique_ptr<PlayedNode>> nodes;

 private:
  std::unique_ptr<wire::ServerPort> port_;

 public:
  std::unique_ptr<live::Aggregator> aggregator;  ///< goes first
};

}  // namespace l4::test
