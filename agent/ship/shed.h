// Sheds load when batches are made faster than they can be sent: first example lines are left out,
// then order, then parameters, then counts. `coverage` still accounts for all lines.
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
  std::uint64_t counts = 0;    ///< entries of a template and its count
  std::uint64_t batches = 0;   ///< batches that lost something
  std::uint64_t segments = 0;  ///< segments dropped because a batch was still too long
};

/// pressure: batches are made faster than they are sent; size: a batch does not fit a message.
enum class ShedFor : std::uint8_t { pressure, size };

/// Half full: no examples; 65 %: no order; 80 %: no parameters; 95 %: no counts.
wire::Shedding shedding_at(double fill);

/// True if something was left out; the caller counts the batch.
bool shed(wire::Batch& batch, wire::Shedding step, ShedFor reason, ShedCounts& counts);

}  // namespace l4::ship
