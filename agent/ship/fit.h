// Brings a batch under the size of a message: a net under the pipeline, whose batches are small.
//
// Used by ship::Session before it encodes. Definitions go ahead in batches of their own, which is
// harmless: they count nothing. What counts cannot be torn from its coverage, so if it is still too
// long it loses order, parameters, counts and at last its segments, each counted; the coverage
// itself, alone, may be split. Pure.
#pragma once

#include <vector>

#include "agent/ship/shed.h"
#include "common/wire/codec.h"

namespace l4::ship {

struct Fitted {
  wire::Batch batch;
  wire::Bytes encoded;
};

/// Sequences are counted on from `next_sequence`. Every result is at most `bytes_max` long, as long
/// as single definitions, paths and reasons are.
std::vector<Fitted> fit(wire::Batch batch, std::size_t bytes_max, std::uint64_t next_sequence,
                        ShedCounts& counts);

}  // namespace l4::ship
