#include "aggregator/receive/receiver.h"

namespace l4::receive {

Stats receive_all(wire::Receiver& receiver, job::JobState& state,
                  std::vector<std::string>& errors) {
  constexpr std::size_t kErrorsMax = 16;
  Stats stats;
  wire::Batch batch;  // its lists keep their room from message to message
  while (const auto message = receiver.receive()) {
    ++stats.messages;
    stats.bytes += message->size();
    const Result<void> decoded = wire::decode(*message, batch);
    const Result<void> applied = decoded ? state.apply(batch) : decoded;
    if (applied) continue;
    ++stats.rejected;
    if (errors.size() < kErrorsMax) errors.push_back(applied.error().text());
  }
  return stats;
}

}  // namespace l4::receive
