// Finds the iteration marker of a framework that has no rule pack.
//
// Place in the flow: the segmenter asks it for every record whose template has no role in a rule
// pack. A template whose integer grows by a constant step at each occurrence is a marker. The
// number of occurrences that are needed depends on the place of the integer: few behind a word such
// as "step" or "iter", more before the total of a bar ("6/120"), many for a bare integer. A bare
// integer must also grow at a steady pace, because lists (channels, stack frames) are printed in no
// time. One per source, one thread. Bounds: kTemplatesMax templates (one that never counted is
// evicted first) and the first kFieldsMax integers of each.
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
  /// The iteration number, and the total if it is printed, if `message` is a marker line; empty
  /// while the template is not known to be a marker.
  std::optional<Progress> observe(LocalTemplateId id, std::string_view message,
                                  std::optional<TimeMs> time);

  /// How likely an integer is an iteration number by what surrounds it: nothing, a total behind
  /// it, a word such as "step" before it.
  enum class Context : std::uint8_t { bare, of_total, named };

  struct Integer {
    std::int64_t value = 0;
    std::int64_t total = 0;  ///< behind a slash; 0 if none
    Context context = Context::bare;
  };
  static constexpr std::size_t kFieldsMax = 8;
  using Integers = std::array<Integer, kFieldsMax>;

 private:
  static constexpr std::size_t kTemplatesMax = 128;  ///< an index into watched_ fits into a byte
  static constexpr int kStreakNamed = 4;             ///< the shortest streak that may convince

  struct Field {
    std::int64_t last = 0;
    std::int64_t step = 0;
    std::int64_t total = 0;
    int streak = 0;
    std::optional<TimeMs> since;  ///< time of the streak's first occurrence
    Context context = Context::bare;
  };
  struct Watched {
    LocalTemplateId id;
    std::array<Field, kFieldsMax> fields{};
    int best_streak = 0;
    std::uint64_t seen = 0;
    /// Many lines were seen and no integer grew: the template is not examined any more.
    bool hopeless() const;
  };

  std::optional<std::size_t> watch(LocalTemplateId id);
  static void count(Field& field, const Integer& number, bool seen, std::optional<TimeMs> time);
  static bool convinces(const Field& field, std::optional<TimeMs> now);
  void choose(LocalTemplateId id, const Watched& watched, std::size_t field);

  std::vector<Watched> watched_;
  FlatTable<std::uint8_t> places_;         // index in watched_, by template; read for every line
  std::size_t oldest_ = 0;                 ///< where the search for a template to evict begins
  std::uint32_t refused_ = 0;              ///< templates that found no room
  std::optional<LocalTemplateId> marker_;  ///< for a bar, an id made of its total
  std::size_t marker_field_ = 0;
  Context marker_context_ = Context::bare;
  std::int64_t marker_step_ = 0;
};

}  // namespace l4::segment
