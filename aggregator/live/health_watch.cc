#include "aggregator/live/health_watch.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace l4::live {

void Health::add(bool& what, std::string reason) {
  what = true;
  reasons.push_back(std::move(reason));
}

std::optional<alert::Alert> HealthWatch::step(const Health& health, wire::Instant now) {
  const std::array<bool, kParts> bad{health.journal, health.database, health.stalled};
  const bool well = std::ranges::none_of(bad, std::identity{});
  if (!well) well_since_.reset();
  if (well && !well_since_) well_since_ = now.steady;
  alert::Alert alert;
  alert.at = now.wall;
  bool news = false;
  for (std::size_t i = 0; i < kParts; ++i) {
    if (!bad[i]) bad_since_[i].reset();
    if (bad[i] && !bad_since_[i]) bad_since_[i] = now.steady;
    if (!bad[i] || told_[i] || now.steady - *bad_since_[i] < options_.degraded_after) continue;
    told_[i] = news = true;
  }
  if (news) {
    alert.kind = alert::Kind::degraded;
    alert.summary = "the aggregator is not well";
    for (std::size_t i = 0; i < health.reasons.size(); ++i)
      alert.summary += (i == 0 ? ": " : "; ") + health.reasons[i];
    return alert;
  }
  const bool told = std::ranges::any_of(told_, std::identity{});
  if (!told || !well || now.steady - *well_since_ < options_.well_after) return std::nullopt;
  told_ = {};
  alert.kind = alert::Kind::well_again;
  alert.summary = "the aggregator is well again: it takes, stores and scores what agents send";
  return alert;
}

}  // namespace l4::live
