// Finds the iteration marker of a framework nobody wrote a pack for.
//
// Place in the flow: agent/segment asks it for every record whose template has no role in a rule
// pack. A template whose integer grows by a constant step at each occurrence is a marker. How many
// occurrences that takes depends on what the number looks like: few behind a word such as "step" or
// "iter", some more before the total of a bar ("6/120"), many if it is bare; and a bare one must
// also come at a pace: lists (channels, stack frames) count in no time at all.
// One per source, one thread. Bounded: watches at most kTemplatesMax templates (what never counted
// makes way) and the first kFieldsMax integers of each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/segment/rule_pack.h"
#include "common/base/flat_table.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::segment {

class IterationLearner {
 public:
  /// Number of the iteration, and the total if one stands behind it, if `message` is (now known to
  /// be) a marker line.
  std::optional<Progress> observe(LocalTemplateId id, std::string_view message,
                                  std::optional<TimeMs> time);

  /// How sure a number is to be an iteration, by its looks alone.
  enum class Looks : std::uint8_t { bare, of_total, named };

  struct Integer {
    std::int64_t value = 0;
    std::int64_t total = 0;  ///< behind a slash; 0 if none
    Looks looks = Looks::bare;
  };
  static constexpr std::size_t kFieldsMax = 8;
  using Integers = std::array<Integer, kFieldsMax>;

 private:
  static constexpr std::size_t kTemplatesMax = 128;  ///< a place is a byte
  static constexpr int kStreakNamed = 4;             ///< the fewest that convince

  struct Field {
    std::int64_t last = 0;
    std::int64_t step = 0;
    std::int64_t total = 0;
    int streak = 0;
    std::optional<TimeMs> since;  ///< time of the first of the streak
    Looks looks = Looks::bare;
  };
  struct Watched {
    LocalTemplateId id;
    std::array<Field, kFieldsMax> fields{};
    int best_streak = 0;
    std::uint64_t seen = 0;
    /// Enough was seen of it, and nothing grew: not looked at any more.
    bool hopeless() const;
  };

  std::optional<std::size_t> watch(LocalTemplateId id);
  static void count(Field& field, const Integer& number, bool seen, std::optional<TimeMs> time);
  static bool convinces(const Field& field, std::optional<TimeMs> now);
  void choose(LocalTemplateId id, const Watched& watched, std::size_t field);

  std::vector<Watched> watched_;
  FlatTable<std::uint8_t> places_;         // in watched_, by template: looked up for every line
  std::size_t oldest_ = 0;                 ///< where the search for one to make way begins
  std::uint32_t refused_ = 0;              ///< templates for which there was no place
  std::optional<LocalTemplateId> marker_;  ///< of a bar: a number made of its total
  std::size_t marker_field_ = 0;
  Looks marker_looks_ = Looks::bare;
  std::int64_t marker_step_ = 0;
};

}  // namespace l4::segment
