// The numbers that decide in aggregator/diagnose, but for the verdict.
//
// Place in the flow: each is a row of [number.diagnose] in config/scoring.toml, which has its
// bounds and where it is from; a site may put others in force (table.h). Read by all threads,
// written by none. In brackets stands the unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/numbers/in_force.h"
#include "common/base/time.h"

namespace l4::numbers {

struct Diagnose {
  /// [confidence] above it nothing is asked for
  double sure = 0.8;
  /// [share] of the first node's from which another is asked for
  double ask_near = 0.25;
  /// [share] from which an alternative is named
  double worth_naming = 0.05;
  /// [ms] lines that are so much younger than the last progress belong to another run
  Millis one_job{2'419'200'000};
  /// [ms] files that stopped growing this long before the question are originals
  Millis original_within{3'600'000};
  /// [ms] equal file times this long after the last line are those of copies
  Millis copy_age{3'600'000};
  /// [errors] of a line that are news
  std::uint64_t nic_errors_least = 10;
  /// [ms] a lost node still sends if its server was seen so long after the network's stop
  Millis sends_later{5000};
  /// [share] of a node's score from which a kind of clues counts as agreeing
  double agreeing_part = 0.1;
  /// [share] of the best score from which a node is as suspect
  double alike = 0.9;
  /// [nodes] as suspect as the first: more are a crowd
  std::ptrdiff_t crowd_over = 4;
  /// [per share] the further nodes share what the first leaves by exp of so many times the
  /// distance
  double share_sharpness = 2.5;
  /// [weight] of "none of these" among them
  double share_none = 0.4;
  /// [lines] with which a single file must begin to show the start
  std::uint64_t opening_lines = 20;
  /// [files] collected together are whole
  std::size_t collection_files = 3;
  /// [lines] apart, at most, stand the lines with which one program tells of one end
  std::uint64_t told_with_lines = 4;
  /// [score] of an event that ends a process
  double event_fatal = 0.9;
  /// [score] of an event that tells of a failure
  double event_failure = 0.8;
  /// [score] of an event that hints at one
  double event_notice = 0.5;
  /// [score] of an event that only is new
  double event_quiet = 0.4;
  /// [score] less for an event that follows another: a wrapper is behind what it carries
  double event_follows = 0.45;
  /// [score] less for another consequence
  double event_consequence = 0.3;
  /// [score] more for a known fault that says only that something failed
  double event_general = 0.05;
  /// [score] more for one that says what
  double event_known = 0.1;
  /// [score] more for the root
  double event_root = 0.05;
  /// [confidence] of a fault that an exit shows
  double fault_struck = 0.85;
  /// [confidence] of a fault that the root shows
  double fault_root = 0.9;
  /// [confidence] of one that another failure shows
  double fault_direct = 0.6;
  /// [confidence] of one that a consequence shows
  double fault_echo = 0.3;
  /// [share] of the confidence of a fault that is known as a consequence
  double fault_consequence = 0.5;
  /// [share] of the best score from which a node or rank is in the failure's scope
  double scope_alike = 0.7;
  /// [score] below which the scope is not known
  double scope_score_min = 0.5;
};

inline const Diagnose& diagnose() {
  return in_force<Diagnose>;
}

}  // namespace l4::numbers
