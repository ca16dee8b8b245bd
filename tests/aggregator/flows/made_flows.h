// Flow records of made jobs: rings of gradient buckets over servers, step by step.
//
// Shared by the tests of flows. Times begin at kBegin; all is fixed but a small, seeded jitter.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "aggregator/flows/record.h"
#include "aggregator/flows/topology.h"

namespace l4::flows::made {

inline constexpr TimeNs kBegin = 1'760'000'000LL * kSecond;

/// Card `rail` of a server.
Address card(unsigned server, unsigned rail);
/// Servers node-0 ..., each with `rails` cards; a switch for each rail.
Topology topology(unsigned servers, unsigned rails);

struct Ring {
  unsigned first_server = 0, servers = 4, rails = 2;
  unsigned steps = 40, buckets = 4;
  TimeNs period = 2 * kSecond;
  std::uint64_t bytes = 100'000'000;  ///< of an edge in a bucket
  TimeNs begin = kBegin;
  /// Seconds by which a server comes late to a step, and by how much a transfer takes longer.
  std::function<double(unsigned step, unsigned server)> late = [](unsigned, unsigned) { return 0; };
  std::function<double(unsigned step, unsigned server, unsigned rail)> slower =
      [](unsigned, unsigned, unsigned) { return 1; };
  /// Edge out of a server is sent at all.
  std::function<bool(unsigned step, unsigned server)> sends = [](unsigned, unsigned) {
    return true;
  };
};

/// Records in the order of their ends. `ends`: the end of each step.
std::vector<FlowRecord> records(const Ring& ring, std::vector<TimeNs>* ends = nullptr);
/// Records of several jobs by their ends.
std::vector<FlowRecord> merged(std::vector<FlowRecord> one, const std::vector<FlowRecord>& two);
/// Numbered at one exporter, as flowgen does it.
void number(std::vector<FlowRecord>& records);

}  // namespace l4::flows::made
