#include "aggregator/flows/rate_watch.h"

#include <algorithm>

#include "aggregator/flows/numbers.h"

namespace l4::flows {
namespace {

constexpr double kRateSlower = 4;
constexpr std::size_t kRateUsualMin = 3;  // blocks

double usual_rate(std::span<const double> blocks) {
  return median(std::vector<double>(blocks.begin(), blocks.end()));
}

}  // namespace

bool RateWatch::add(const Row& row) {
  constexpr TimeNs kLeast = kMillisecond;  // to which times may be cut
  Rates& own = streams_[row.stream];
  if (own.rows == 0) own.begin = row.start;
  own.best = std::max(own.best, static_cast<double>(row.bytes) /
                                    static_cast<double>(std::max(kLeast, row.end - row.start)));
  if (++own.rows < kBlock) return false;
  own.now = own.best;
  own.end = row.end;
  if (own.known >= kRateUsualMin && own.now * kRateSlower < usual_rate(own.kept())) {
    if (own.slow++ == 0) own.since = own.begin;
  } else {
    own.slow = 0;
    own.usual[own.known++ % kHistory] = own.now;
  }
  own.rows = 0;
  own.best = 0;
  return true;
}

RateWatch::Found RateWatch::find() const {
  Found found;
  std::vector<double> factors;
  for (const auto& [stream, own] : streams_) {
    if (own.slow < kBlocksMin || own.now <= 0) continue;
    found.slow.push_back(stream);
    factors.push_back(usual_rate(own.kept()) / own.now);
    if (found.since == 0 || own.since < found.since) found.since = own.since;
  }
  if (found.slow.empty()) return found;
  found.factor = median(std::move(factors));
  for (const auto& [stream, own] : streams_)
    if (own.slow >= kBlocksMin || (own.known >= kRateUsualMin && own.end > found.since))
      found.judged.push_back(stream);
  std::ranges::sort(found.slow);
  std::ranges::sort(found.judged);
  return found;
}

}  // namespace l4::flows
