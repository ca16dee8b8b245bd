// What is left out of batches when they cannot be sent as fast as they are made: first example
// lines, then order, then parameters, then counts. Lines stay accounted for by `coverage`.
//
// Flow: ship::Session asks `shedding_at` how full its queue is and calls `shed` before it encodes.
// Pure functions; every step is counted.
#pragma once

#include <cstdint>

#include "common/wire/batch.h"
#include "common/wire/control.h"

namespace l4::ship {

struct ShedCounts {
  std::uint64_t order_runs = 0, parameter_tuples = 0;
  std::uint64_t counts = 0;    ///< entries "this template, so often"
  std::uint64_t batches = 0;   ///< of which something was left out
  std::uint64_t segments = 0;  ///< that were dropped whole, because a batch was still too long
};

/// Batches are not sent as fast as they are made, or one is longer than a message may be.
enum class ShedFor : std::uint8_t { pressure, size };

/// Half full: no examples; 65 %: no order; 80 %: no parameters; 95 %: no counts.
wire::Shedding shedding_at(double fill);

/// True if something was left out; whoever calls counts the batch.
bool shed(wire::Batch& batch, wire::Shedding step, ShedFor reason, ShedCounts& counts);

}  // namespace l4::ship
