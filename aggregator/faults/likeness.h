// Guesses the kind of fault of a line that matches no pattern, by the words of known faults.
// Flow: diagnose asks if no known fault explains a failure; Library builds the index once. A fault
// is the set of words of its title and example lines, rarer words weigh more, and the eight nearest
// faults vote on the kind, by the square of their likeness (cosine). Consequences and harmless
// lines have no vote. The confidence was measured: each family of the shipped library was left out
// in turn and its lines were asked for (tests/aggregator/faults/likeness_test.cc). Below kScoreMin
// fewer than six of ten guesses were right, and no guess is made; above it, `confidence` is the
// share of right guesses, at most kConfidenceMax, because the lines of jobs differ more from the
// library than its own families differ from each other. Immutable: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
    const Fault* nearest = nullptr;  ///< the nearest fault of this category and subcategory
    double score = 0;                ///< likeness to the nearest, times the share of the vote
    double confidence = 0;           ///< P(category and subcategory right)
  };

  /// A known fault beside a text.
  struct Near {
    const Fault* fault = nullptr;
    double likeness = 0;              ///< cosine of their words by weight, from 0 to 1
    std::vector<std::string> shared;  ///< words of both, rarest first, at most kSharedMax
  };
  static constexpr std::size_t kSharedMax = 8;

  /// `faults` outlive the index and do not move.
  explicit Likeness(std::span<const Fault> faults);

  /// The guess for the text (a template or a message) with the highest score; empty if every score
  /// is below kScoreMin.
  std::optional<Placement> place(std::span<const std::string> texts) const;
  /// The nearest kind, whatever its score; empty if no word is known.
  std::optional<Placement> nearest(std::string_view text) const;
  /// The faults that share most words with the text, nearest first, at most `most`.
  std::vector<Near> near(std::string_view text, std::size_t most) const;

 private:
  /// Likeness and index into known_, nearest first.
  using Ranking = std::vector<std::pair<double, std::uint32_t>>;
  Ranking ranking_of(const std::vector<std::string>& words) const;
  double weight_of(const std::string& word) const;

  struct Known {
    const Fault* fault = nullptr;
    double length = 0;  ///< length of its vector of words
  };

  std::vector<Known> known_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> holders_;  ///< by word
};

/// The words of a text in lower case, each once, sorted: runs of two letters or more, with
/// `CamelCase` split.
std::vector<std::string> words_of(std::string_view text);

}  // namespace l4::faults
