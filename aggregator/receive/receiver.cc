#include "aggregator/receive/receiver.h"

namespace l4::receive {

Stats receive_all(wire::Receiver& receiver, job::JobState& state,
                  std::vector<std::string>& errors) {
  constexpr std::size_t kErrorsMax = 16;
  Stats stats;
  while (const auto batch = receiver.receive()) {
    ++stats.batches;
    const Result<void> applied = state.apply(*batch);
    if (applied) continue;
    ++stats.rejected;
    if (errors.size() < kErrorsMax) errors.push_back(applied.error().text());
  }
  return stats;
}

}  // namespace l4::receive
