#include "aggregator/flows/slow_steps.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "aggregator/flows/numbers.h"

namespace l4::flows {

bool SlowSteps::judge(double seconds) {
  constexpr double kSigmas = 6, kFloor = 0.004 * 1.4826, kLeast = 0.03, kSteady = 0.02;
  const double log = std::log(std::max(seconds, 1e-6));
  if (logs_.size() >= kBeforeMin) {
    const std::vector<double> before(logs_.begin(), logs_.end());
    const double away = std::max(scatter(before), kFloor);
    const double excess = log - median(before);
    // Where lengths scatter this much, the clock is not steady enough to call a step slow.
    if (away < kSteady && excess > std::max(kSigmas * away, kLeast)) return true;
  }
  logs_.push_back(log);
  if (logs_.size() > kBefore) logs_.pop_front();
  return false;
}

double SlowSteps::usual() const {
  if (logs_.size() < kBeforeMin) return 0;
  return std::exp(median(std::vector<double>(logs_.begin(), logs_.end())));
}

}  // namespace l4::flows
