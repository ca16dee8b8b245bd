// Finds which of thousands of patterns match a text, and tries only the few that may match.
//
// Flow: Library numbers its patterns here once and asks for every template. Each pattern is indexed
// by the literals that its matches must contain (literals.h); one pass over the text finds the
// literals in it (common/base/literal_index.h), and only their patterns are tried, one regexp each.
// One automaton for all patterns (RE2::Set) would be less code, but needs 25 times as long for a
// new text, and when its states outgrow its memory it answers that nothing matches. Immutable after
// build(): any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aggregator/faults/pattern.h"
#include "common/base/literal_index.h"

namespace l4::faults {

class PatternSet {
 public:
  using Number = std::uint32_t;

  /// Returns the pattern's number, from 0; equal notations have one number. Before build().
  Number add(const std::string& pattern);
  void build();

  /// Numbers of all patterns that match, ascending.
  std::vector<Number> matching(std::string_view text) const;

  std::size_t size() const { return patterns_.size(); }
  const Pattern& at(Number number) const { return patterns_[number]; }

 private:
  std::vector<Pattern> patterns_;
  std::unordered_map<std::string, Number> numbers_;  ///< by notation; until build()
  LiteralIndex index_;
  std::vector<Number> unselective_;  ///< patterns without a literal: tried on every text
};

}  // namespace l4::faults
