// A whole fleet and its aggregator in one thread: agents, links, store and shards on a clock of the
// test's own. What happens follows from the script and the seed.
//
// Links lose, double, delay and overtake messages, and break; the aggregator is killed and comes
// back from its folder, and is cut off for a while, as the script says.
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

  /// To the end of the script, and until everything that was said is counted; false if that never
  /// comes.
  bool play();
  fleet::Judgement judgement();
  /// Everything that can be told of how it went, for comparison.
  std::string account();
  /// Lines that the aggregator counted, and those that the node said while it lived.
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
