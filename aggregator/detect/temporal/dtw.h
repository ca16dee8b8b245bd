// Dynamic time warping of short sequences, and the directional distance that the scorer uses.
//
// Flow: temporal.cc and paper.cc compare one rank's iteration with others. Pure functions; no
// state. Steps are (1,0), (0,1), (1,1); against an empty sequence every symbol of the other one is
// paid. dtw_symbols: 0/1 cell cost (the paper, 5.3.2). directional_distance: extra and missing
// events have their own costs and neighbouring swaps are free (formula at the declaration).
// Time: the product of the lengths. Memory: two rows, or the whole table for align().
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace l4::detect::temporal {

using Symbol = std::uint32_t;
using Sequence = std::vector<Symbol>;
using SequenceView = std::span<const Symbol>;

/// Replaces each run of equal symbols by one symbol. This changes DTW distances: that of 0 5 5 5 5
/// 1 and 0 1 is 4 before, 1 after.
Sequence collapse_runs(SequenceView symbols);
/// 64 bits over symbols and length; equal hashes are taken for equal sequences.
std::uint64_t hash_sequence(SequenceView symbols);

std::size_t dtw_symbols(SequenceView a, SequenceView b);

/// A sequence with the cost of each of its positions, in nats, >= 0.
struct Priced {
  SequenceView symbols;
  std::span<const double> cost;
};

struct DistanceOptions {
  /// x may still grow: symbols of y after the best place to stop are not missing yet.
  bool open_end = false;
  /// Stop early and return infinity once the distance cannot be smaller than this.
  double below = std::numeric_limits<double>::infinity();
};

/// How far x (priced as extra) is from y (priced as missing):
/// D(i,j) = min{ D(i-1,j-1) + max(c+, c-), D(i-1,j) + c+, D(i,j-1) + c- }, where c+ = 0 if x_i
/// occurs in y[j-1..j+1], else the cost of x_i; c- the same with the roles exchanged.
double directional_distance(const Priced& x, const Priced& y, const DistanceOptions& options = {});

struct Alignment {
  double distance = 0;
  double extra_cost = 0, missing_cost = 0;  ///< paid along the best path
  std::vector<std::size_t> extra, missing;  ///< positions in x and in y that were paid, ascending
};

/// Like directional_distance(), and also gives the positions that were paid.
Alignment align(const Priced& x, const Priced& y, bool open_end = false);

}  // namespace l4::detect::temporal
