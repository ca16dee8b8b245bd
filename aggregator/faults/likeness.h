// Which kind of fault a line tells of that shows none: by its words, among those of known faults.
//
// Flow: diagnose asks where no known fault explains a failure; Library builds it once. A fault is
// the set of words of its title and example lines, each word counts by how rare it is, and the
// eight nearest faults vote, by the square of their likeness (cosine), on the kind. Consequences
// and harmless lines have no vote. How sure that is was measured: each family of the library that
// ships was left out in turn and its lines asked for (tests/aggregator/faults/likeness_test.cc).
// Below kScoreMin fewer than six of ten answers were right, and nothing is said; above it as many
// as `confidence` says, which is never more than kConfidenceMax, since what jobs print themselves
// is further from the library than its own families are from each other. Immutable: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aggregator/faults/fault.h"

namespace l4::faults {

class Likeness {
 public:
  static constexpr double kScoreMin = 0.2;
  static constexpr double kConfidenceMax = 0.75;

  struct Placement {
    Category category = Category::user;
    std::string subcategory;
    const Fault* nearest = nullptr;  ///< of that kind
    double score = 0;                ///< likeness to the nearest x share of the vote
    double confidence = 0;           ///< P(category and subcategory right)
  };

  /// `faults` outlive it and stay where they are.
  explicit Likeness(std::span<const Fault> faults);

  /// Of the text, a template or a message, that says most; empty if none says enough.
  std::optional<Placement> place(std::span<const std::string> texts) const;
  /// The nearest kind however far it is; empty if no word is known.
  std::optional<Placement> nearest(std::string_view text) const;

 private:
  struct Known {
    const Fault* fault = nullptr;
    double length = 0;  ///< of its vector
  };

  std::vector<Known> known_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> holders_;  ///< by word
};

/// Words of a text in lower case, each once, sorted: runs of two letters or more, `CamelCase` taken
/// apart.
std::vector<std::string> words_of(std::string_view text);

}  // namespace l4::faults
