// A job on disk: its state and its templates as versioned bytes, and back.
//
// Flow: the thread that owns a job saves it between two batches; aggregator/store keeps the bytes
// with a checksum and the journal position they stand for; after a restart the owner loads them and
// applies the batches that came later. A loaded job goes on as the saved one would: same reports,
// same ids. Size and time follow what the state holds, not the input: about 5 bytes an iteration of
// a stream and 15 an event. Bytes of another version or of a broken form are refused; the store's
// checksum finds flipped bits. No state.
#pragma once

#include "aggregator/job/job_state.h"
#include "common/base/byte_stream.h"
#include "common/base/error.h"

namespace l4::job {

/// Appends the job and its template table to `out`; no other job may use that table.
void save_job(const JobState& state, ByteWriter& out);

/// Fills a new `state`, which has the id it was saved with, and its table. After an error both are
/// unspecified and must be discarded.
Result<void> load_job(std::span<const std::byte> bytes, JobState& state);

}  // namespace l4::job
