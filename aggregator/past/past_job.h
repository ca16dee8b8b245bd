// A job as it stood at some time of the past, rebuilt from a saved state and the later records of
// the journal. Flow: PastDesk gives a saved state (or none: the job had just begun), then the later
// records in order; report() gives the report that the live job had at that time. The code is that
// of LiveJob, with the same batches at the same times. Deadlines pass as they did then; a diagnosis
// is made on the way only where it decides whether the job was over. Known faults, thresholds and
// the version are the present ones. No clock, one thread; discarded after the answer.
#pragma once

#include <memory>
#include <string>

#include "aggregator/faults/library.h"
#include "aggregator/past/note.h"
#include "aggregator/scoring/live_job.h"
#include "aggregator/scoring/presence.h"

namespace l4::past {

class PastJob {
 public:
  struct Surroundings {
    std::shared_ptr<const pool::Shelf> shelf;
    std::shared_ptr<const faults::Library> library;
    Millis closes_after{0};  ///< a job that is silent for so long is over
  };

  PastJob(std::string id, const scoring::JobOptions& options, Surroundings around);

  /// Replaces the empty job by a saved one; false if the bytes are unusable. `time`: when they were
  /// saved.
  bool load(std::span<const std::byte> bytes, TimeMs time);
  void apply(wire::Batch batch, store::Seq seq, TimeMs arrival);
  void on(const Note& note, store::Seq seq);
  /// Lets time pass until `to`.
  void pass(TimeMs to);
  /// The report as of `at`, as JSON; empty if no batch came before.
  std::string report(TimeMs at);

  /// The size of the job when saved; computing it takes some milliseconds for each MiB.
  std::uint64_t bytes() const;

 private:
  scoring::LiveJob& job(TimeMs now);
  void step(TimeMs now);
  void diagnose(TimeMs now);
  bool is_over(TimeMs now);
  void started(TimeMs now);

  std::string id_;
  scoring::JobOptions options_;
  Surroundings around_;
  scoring::Presence presence_;
  std::unique_ptr<scoring::LiveJob> job_;
  TimeMs now_{}, met_{};
  bool judged_ = false;  ///< nothing came since the last diagnosis
};

}  // namespace l4::past
