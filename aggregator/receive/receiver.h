// Applies batches from the transport to a job.
//
// Flow: transport -> here -> aggregator/job. Runs on the aggregator's receive thread until every
// sender has closed. A batch that cannot be applied is counted and reported; the others go on.
#pragma once

#include <cstdint>

#include "aggregator/job/job_state.h"
#include "common/wire/transport.h"

namespace l4::receive {

struct Stats {
  std::uint64_t batches = 0, rejected = 0;
};

/// Drains `receiver` into `state`. `errors` receives one text per rejected batch (at most 16).
Stats receive_all(wire::Receiver& receiver, job::JobState& state, std::vector<std::string>& errors);

}  // namespace l4::receive
