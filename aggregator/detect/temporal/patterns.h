// Remembered iterations: the sequences that later ones are compared with.
//
// Flow: temporal.cc keeps a StreamPatterns per stream and one SharedPatterns per job. One owner,
// one thread; sequences are shared between all of them by reference count. Both are bounded,
// and the least recently seen pattern goes first: nothing grows with the length of the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "aggregator/detect/temporal/dtw.h"

namespace l4::detect::temporal {

struct Pattern {
  std::uint64_t hash = 0;
  Sequence symbols;
};
using PatternRef = std::shared_ptr<const Pattern>;

/// All streams' patterns, latest seen first.
class SharedPatterns {
 public:
  explicit SharedPatterns(std::size_t capacity) : capacity_(capacity) {}
  /// Null if no such pattern is kept.
  PatternRef find(std::uint64_t hash) const;
  /// Moves the pattern to the front, adds it if it is new.
  void see(const PatternRef& pattern);
  const std::list<PatternRef>& latest() const { return order_; }

 private:
  std::size_t capacity_;
  std::list<PatternRef> order_;
  std::unordered_map<std::uint64_t, std::list<PatternRef>::iterator> by_hash_;
};

/// One stream's latest iterations, and its distinct iterations with their durations.
class StreamPatterns {
 public:
  struct Prototype {
    PatternRef pattern;
    std::vector<double> log_seconds;  ///< ln of the latest durations, oldest first
  };

  bool contains(std::uint64_t hash) const { return find(hash) != nullptr; }
  const Prototype* find(std::uint64_t hash) const;
  /// Adds an iteration; `seconds` <= 0 or NaN: not known.
  void see(const PatternRef& pattern, double seconds, std::size_t recent, std::size_t distinct);

  const std::vector<PatternRef>& recent() const { return recent_; }         ///< latest first
  const std::vector<Prototype>& prototypes() const { return prototypes_; }  ///< latest first

 private:
  std::vector<PatternRef> recent_;
  std::vector<Prototype> prototypes_;
};

}  // namespace l4::detect::temporal
