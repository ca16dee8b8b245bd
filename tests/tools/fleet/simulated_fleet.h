// A whole fleet and its aggregator in one thread: agents, links, store and shards on a clock of the
// test. Script and seed determine every event.
//
// Links lose, duplicate, delay and reorder messages, and break; the aggregator is killed and
// restarts from its folder, and is cut off for a while, as the script says.
#pragma once

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "aggregator/live/aggregator.h"
#include "common/wire/simulation/network.h"
#include "tools/fleet/judge.h"
#include "tools/fleet/node.h"

namespace l4::test {

class SimulatedFleet {
 public:
  SimulatedFleet(fleet::Script script, std::filesystem::path folder);

  /// Runs to the end of the script, and until every line is counted; false if that does not happen.
  bool play();
  fleet::Judgement judgement();
  /// All results of the run, for comparison.
  std::string account();
  /// Lines that the aggregator counted, and lines that the node printed while it lived.
  std::uint64_t counted(const std::string& node) const;
  std::uint64_t said(std::size_t node) const;
  std::size_t heard(const std::string& part) const;

  fleet::Script script;
  std::vector<fleet::JobPlan> plans;
  std::vector<std::unique_ptr<fleet::Node>> nodes;
  std::vector<fleet::PlannedNode> places;

 private:
  void start();
  void strike(std::int64_t second);
  void step();
  std::vector<fleet::Found> found();
  wire::Instant now() const { return {Millis{clock_}, TimeMs{Millis{clock_}}}; }

  std::filesystem::path folder_;
  std::mt19937_64 random_;
  wire::simulation::Network network_;
  live::Options options_;
  std::int64_t clock_ = 1'800'000'000'000;
  wire::Instant begin_{now()};
  std::int64_t cut_until_ = 0;  ///< second
  std::size_t next_fault_ = 0;
  bool cut_ = false;
  std::vector<std::string> lines_;
  std::unique_ptr<wire::ServerPort> port_;
  std::unique_ptr<live::Aggregator> aggregator_;  ///< goes first
};

}  // namespace l4::test
