// The simulated fleet as it runs: thousands of agents on one thread over the real wire, and what is
// done to them and to their aggregator.
//
// Flow: Script -> Fleet -> Outcome, which is judged and printed by outcome.h. A node is stepped
// when something has come for it, or it has something to say. Random choices follow from the
// script's seed; the time that things take does not. Errors: keys, addresses, file descriptors, an
// aggregator that does not start or dies. Bounds: those of the script; six file descriptors a node.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/wire/zmq/zmq_client.h"
#include "tools/fleet/node.h"
#include "tools/fleet/outcome.h"
#include "tools/fleet/watcher.h"

namespace l4::fleet {

struct FleetOptions {
  std::string endpoint;        ///< tcp://HOST:PORT
  std::string url;             ///< http://HOST:PORT
  std::filesystem::path keys;  ///< as `l4 keys` made it: nodes/NODE.key, or nodes/fleet.key
  std::function<void(const std::string&)> say;  ///< what happens, a line each
};

class Fleet {
 public:
  /// All arguments outlive the fleet.
  Fleet(const Script& script, FleetOptions options, AggregatorProcess& aggregator);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  ~Fleet();

  /// Plays the script, from the first connection to the last answer.
  Result<Outcome> play();

 private:
  Result<void> make_nodes();
  Result<void> strike();
  /// Steps the nodes that are due or have something to read; waits a moment if there is no such
  /// node.
  void step_nodes();
  void listen_to(std::size_t node);
  void note_return();
  void log(const Sample& sample);
  void drain();
  Millis age() const;

  const Script& script_;
  FleetOptions options_;
  AggregatorProcess& aggregator_;
  std::vector<JobPlan> plans_;
  std::shared_ptr<wire::ZmqContext> context_;
  wire::Instant begin_;
  bool cut_ = false;
  Millis cut_until_{0};
  std::size_t next_fault_ = 0;
  struct Seat {
    std::unique_ptr<Node> node;
    Millis due{0};
    std::uint64_t life = 0;  ///< the life that epoll listens to
    bool ready = false;
  };
  std::vector<Seat> nodes_;
  int epoll_;
  Outcome outcome_;
};

}  // namespace l4::fleet
