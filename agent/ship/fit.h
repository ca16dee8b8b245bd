// Makes a batch fit into a message: a safety net, as batches of the pipeline are small.
//
// Used by ship::Session before it encodes. Definitions are sent before, in batches of their own,
// which is harmless: they count nothing. Counts cannot be separated from their coverage. So a batch
// that is still too long loses order, parameters, counts and at last its segments; each loss is
// counted. Coverage without segments may be split. Pure.
#pragma once

#include <vector>

#include "agent/ship/shed.h"
#include "common/wire/batch.h"
#include "common/wire/limits.h"

namespace l4::ship {

struct Fitted {
  wire::Batch batch;
  wire::Bytes encoded;
};

/// The results have sequence numbers from `next_sequence` on. Each is at most `bytes_max` long if
/// single definitions, paths and reasons are.
std::vector<Fitted> fit(wire::Batch batch, std::size_t bytes_max, std::uint64_t next_sequence,
                        ShedCounts& counts);

}  // namespace l4::ship
