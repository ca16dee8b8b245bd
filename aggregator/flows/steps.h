// Steps of a group: how many collectives a step has, and where each step ends.
//
// Place in the flow: events of a group -> learn_steps, once -> StepCounter, from then on. A pause
// in the middle of a step is a longer gap than the one between two steps, so events are counted
// and gaps only correct the count. Pure; a StepCounter holds the few values of one group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "aggregator/flows/record.h"

namespace l4::flows {

/// What learning and counting need of an event.
struct Beat {
  TimeNs start = 0;  ///< of its first edge
  TimeNs end = 0;
  std::uint64_t bytes = 0;
};

struct StepRule {
  std::size_t events = 0;  ///< in a step
  TimeNs period = 0;       ///< typical length of a step
  std::vector<TimeNs>
      gaps;                ///< typical idle time before each event; the first one's is the longest
  bool is_bursty = false;  ///< one gap is far longer than all others
  bool is_vague = false;   ///< events may be missing
  std::size_t first = 0;   ///< index of a beat that begins a step
  /// Share of the step outside of its longest gap.
  double spread() const;
};

struct StepLearning {
  double size_tolerance = 0.05;  ///< by which sizes that are alike may differ, as a share
  bool vague = false;            ///< events may be missing
  std::size_t steps_min = 5;
};

/// None if no number of events makes steps of regular length.
std::optional<StepRule> learn_steps(const std::vector<Beat>& beats, const StepLearning& how);

/// The end of a step.
struct Boundary {
  TimeNs end = 0;
  std::size_t events = 0;  ///< counted in the step
  bool complete = false;   ///< as many as usual
};

class StepCounter {
 public:
  /// Counting begins at the beat at which learning began.
  explicit StepCounter(StepRule rule);

  /// At most one boundary; it may lie before `beat`.
  std::optional<Boundary> add(const Beat& beat);
  /// Events since the last boundary.
  std::size_t counted() const { return count_; }
  const StepRule& rule() const { return rule_; }

 private:
  bool is_step_over(TimeNs gap) const;
  /// The end of the step that ended `lost` events before this one, if gaps show that.
  std::optional<Boundary> realign();

  StepRule rule_;
  std::size_t count_ = 0;
  TimeNs last_end_ = 0, last_boundary_ = 0;
  struct Seen {
    TimeNs gap = 0, end = 0;
  };
  std::vector<Seen> recent_;  ///< events of this step, with the idle time before each
  std::vector<float> usual_;  ///< logs of the usual gaps, where they are compared
  std::vector<float> seen_;   ///< of those of this step, in its later half
};

}  // namespace l4::flows
