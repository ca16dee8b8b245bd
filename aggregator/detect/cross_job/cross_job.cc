#include "aggregator/detect/cross_job/cross_job.h"

#include <algorithm>
#include <cmath>

namespace l4::detect::cross_job {
namespace {

double expected(const PoolEvent& pool, const EventUse& use) {
  return std::max(pool.rate_max * use.exposure, pool.count_max);
}

double excess(double count, double expectation) {
  return 2 * (std::sqrt(count + 3.0 / 8) - std::sqrt(expectation + 3.0 / 8));
}

}  // namespace

std::vector<EventVerdict> filter_events(std::span<const EventHere> events, std::uint32_t pool_runs,
                                        const FilterOptions& options) {
  std::vector<EventVerdict> verdicts;
  verdicts.reserve(events.size());
  for (const EventHere& event : events) {
    EventVerdict& verdict = verdicts.emplace_back();
    verdict.known = pool_runs > 0 && event.pool.runs_with > 0;
    if (!verdict.known) continue;
    bool far_above = false;
    for (const EventUse& use : event.nodes) {
      const double normal = expected(event.pool, use);
      const double value = excess(use.count, normal);
      verdict.excess = std::max(verdict.excess, value);
      far_above =
          far_above || (value >= options.excess_min && use.count >= options.ratio_min * normal);
    }
    const bool frequent = 2 * std::uint64_t{event.pool.runs_with} >= pool_runs;
    verdict.dropped = options.rule == Rule::paper ? frequent : !far_above;
  }
  return verdicts;
}

}  // namespace l4::detect::cross_job
