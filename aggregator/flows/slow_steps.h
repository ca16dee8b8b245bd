// Steps that take longer than those before them.
//
// Place in the flow: JobStep -> SlowSteps::judge -> incidents of FollowedJob. A step is slow if
// its length is further above the median of the last steps than six deviations, and 3 %. Slow steps
// do not become usual. One owner. Bounds: kBefore lengths.
#pragma once

#include <cstddef>
#include <deque>

namespace l4::flows {

class SlowSteps {
 public:
  static constexpr std::size_t kBefore = 40, kBeforeMin = 8;

  /// Seconds of a step, without the time in which a checkpoint was written.
  bool judge(double seconds);
  /// Seconds of a usual step; zero before there are enough.
  double usual() const;

 private:
  std::deque<double> logs_;  ///< of the lengths of the last steps that were not slow
};

}  // namespace l4::flows
