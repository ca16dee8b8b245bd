// Batches of network cards of a made job: a card a node, with bursts at the end of each step.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/aggregator/job/made_job.h"

namespace l4::detect::nics::test {

struct Card {
  double period_s = 2.0, burst_s = 0.6;
  double stops_s = 1e9;      ///< sends nothing from then on
  double slow_from_s = 1e9;  ///< steps take twice as long from then on
  double bytes = 8e6;        ///< of a step
};

inline void add_tenth(wire::NicSecond& second, std::size_t tenth, double bytes) {
  second.sent += static_cast<std::uint64_t>(bytes / 2);
  second.received += static_cast<std::uint64_t>(bytes / 2);
  second.tenths.set(tenth, wire::Tenths::kMost);
  if (second.first == wire::NicSecond::kNone)
    second.first = static_cast<std::uint16_t>(tenth * 100);
  second.last = second.last_sent = static_cast<std::uint16_t>(tenth * 100 + 100);
}

inline bool is_busy(const Card& card, double at) {
  if (at >= card.stops_s) return false;
  const bool slow = at >= card.slow_from_s;
  const double since = slow ? at - card.slow_from_s : at;
  const double period = slow ? 2 * card.period_s : card.period_s;
  return std::fmod(since, period) >= period - card.burst_s;
}

/// Seconds from kBegin to `until_s` of a card of the node.
inline void add_card(job::test::MadeJob& job, int node, const Card& card, int until_s,
                     const std::string& name = "mlx5_0/1") {
  wire::NicNews& news = job.nics_of(node);
  wire::NicDefinition facts;
  facts.nic = static_cast<std::uint16_t>(news.definitions.size());
  facts.name = name;
  facts.node = "node-" + std::to_string(node);
  facts.kind = wire::NicKind::infiniband;
  news.definitions.push_back(facts);
  const auto begin = std::chrono::floor<std::chrono::seconds>(job::test::kBegin);
  for (int s = 0; s < until_s; ++s) {
    wire::NicSecond second;
    second.nic = facts.nic;
    second.begin = TimeMs{begin} + std::chrono::seconds{s};
    for (std::size_t tenth = 0; tenth < wire::Tenths::kCount; ++tenth) {
      const double at = s + static_cast<double>(tenth) / 10;
      if (is_busy(card, at)) add_tenth(second, tenth, card.bytes * 0.1 / card.burst_s);
    }
    news.seconds.push_back(second);
  }
}

}  // namespace l4::detect::nics::test
