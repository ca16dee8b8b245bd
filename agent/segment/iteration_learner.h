// Finds the iteration marker of a framework nobody wrote a pack for.
//
// Place in the flow: agent/segment asks it for every record whose template has no role in a rule
// pack. A template whose integer grows by a constant step at each occurrence is a marker; a word
// such as "step" or "iter" before the number needs fewer occurrences than a bare number does, and
// a bare number must also come at a pace: lists (channels, stack frames) count in no time at all.
// One per source, one thread. Bounded: watches at most kTemplatesMax templates and the first
// kFieldsMax integers of each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::segment {

class IterationLearner {
 public:
  /// Number of the iteration if `message` is (now known to be) a marker line.
  std::optional<std::int64_t> observe(LocalTemplateId id, std::string_view message,
                                      std::optional<TimeMs> time);

  /// Template of the marker in use, if one was found.
  std::optional<LocalTemplateId> marker() const;

 private:
  static constexpr std::size_t kTemplatesMax = 128;
  static constexpr std::size_t kFieldsMax = 4;
  static constexpr int kStreakNamed = 4;  // "step 7": few repetitions convince
  static constexpr int kStreakBare = 12;  // a bare number may be anything that counts

  struct Field {
    std::int64_t last = 0;
    std::int64_t step = 0;
    int streak = 0;
    std::optional<TimeMs> since;  ///< time of the first of the streak
    bool named = false;
  };
  struct Watched {
    LocalTemplateId id;
    std::array<Field, kFieldsMax> fields{};
    bool seen = false;
  };

  Watched* watch(LocalTemplateId id);
  bool convinces(const Field& field, std::optional<TimeMs> now) const;
  void choose(const Watched& watched, std::size_t field);

  std::vector<Watched> watched_;
  std::optional<LocalTemplateId> marker_;
  std::size_t marker_field_ = 0;
  bool marker_named_ = false;
  std::int64_t marker_step_ = 0;
};

}  // namespace l4::segment
