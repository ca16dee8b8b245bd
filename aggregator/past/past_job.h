// A job as it stood at some time of the past, made again from what was saved and what came after.
//
// Flow: PastDesk gives a saved state (or none: the job had just begun), then what the journal has
// behind it, in order; report() is that of the live job at that time. It is the same LiveJob, with
// the same batches at the same times; deadlines pass on the way, and nothing is diagnosed but what
// decides whether the job was over. Known faults, thresholds and the version are those of now. No
// clock, one thread; it is thrown away afterwards.
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

  /// In place of an empty one; false if the bytes are of no use. `time`: of when they were saved.
  bool load(std::span<const std::byte> bytes, TimeMs time);
  void apply(wire::Batch batch, store::Seq seq, TimeMs arrival);
  void on(const Note& note, store::Seq seq);
  /// Lets time pass until then.
  void pass(TimeMs to);
  /// As of then, in JSON; empty if nothing came.
  std::string report(TimeMs at);

  /// Its size when saved; costs some milliseconds for each MiB.
  std::uint64_t bytes() const;

 private:
  scoring::LiveJob& job(TimeMs now);
  void look(TimeMs now);
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
