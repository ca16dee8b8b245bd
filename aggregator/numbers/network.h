// The numbers that decide in aggregator/detect/network.
//
// Place in the flow: each is a row of [number.network] in config/scoring.toml, which has its bounds
// and where it is from; a site may put others in force (table.h). Read by all threads, written by
// none. In brackets stands the unit.
#pragma once

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Network {
  /// [ms] a job that the network saw store no longer ago than this still does
  Millis stores_within{30'000};
  /// [ms] the network went on if it transferred so long after the last progress, where it
  /// shows no steps
  Millis without_steps{30'000};
  /// [ms] times of the network and of logs differ by so much
  Millis slack{1000};
  /// [lines] of an iteration: with fewer, lines do not tell who stopped first
  double lines_enough = 5;
  /// [ms] a silent node still sends if its server was seen so long after its last line
  Millis sends_later{5000};
  /// [steps] that must be slow before the network's word counts
  unsigned steps_min = 2;
  /// [share] more than this of a job's servers are nodes of the job of logs that it is
  double node_share = 0.5;
};

inline const Network& network() {
  return in_force<Network>;
}

}  // namespace l4::numbers
