// Settings of the live aggregator; config/aggregator.toml documents them.
//
// Plain values. `Thresholds` (and the options of alerts) may change while it runs; the rest is read
// at the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "aggregator/detect/hang/silence.h"
#include "aggregator/scoring/incident_book.h"
#include "aggregator/scoring/presence.h"
#include "common/base/time.h"

namespace l4::scoring {

struct Thresholds {
  detect::hang::Options hang;
  watch::Options watch;
  IncidentBook::Options incidents;
};

/// Of one job.
struct JobOptions {
  Thresholds thresholds;
  PresenceOptions presence;
  /// After a diagnosis a job is left alone for so many times as long as that took.
  double rest_factor = 5;
  Millis rest_least{500};
  Millis recheck{2'000};   ///< after something was suspected or triggered, doubled each time
  Millis revise{10'000};   ///< at most that, while an incident is open and lines arrive
  Millis routine{60'000};  ///< otherwise, while lines arrive; at least rest_factor x 4 its own time
  std::size_t warnings_max = 10'000;
  /// Iterations of all ranks together, some 60 B each: 4,096 of each in a job of 97 ranks or fewer,
  /// 500 in one of 800, then `iterations_enough` up to 12,500 ranks, and 250 in one of 16,000. So a
  /// large job has reached its size after some minutes.
  std::size_t iterations_soft = 400'000, iterations_max = 4'000'000;
  std::size_t iterations_enough = 320;  ///< detectors look back at 200
  std::string version;                  ///< in reports
};

/// Of all jobs; each shard has its share.
struct ShardOptions {
  JobOptions job;
  std::size_t shards = 1;
  Millis checkpoint_every{30'000};  ///< of a job that has changed
  Millis closes_after{3'600'000};   ///< a job that is silent for so long is over
  Millis keeps_for{21'600'000};     ///< one that is over stays in memory
  /// Of one look at all jobs, then batches have their turn; a diagnosis that has begun is ended.
  Millis diagnoses_most{20};
  std::size_t jobs_max = 1'000;
  /// Counted is what a job takes when it is saved, as of its last checkpoint; in memory that is two
  /// to four times as much.
  std::uint64_t job_bytes_max = std::uint64_t{512} << 20U;
  std::uint64_t all_bytes_max = std::uint64_t{2} << 30U;
  std::size_t waiting_max = 16'384;                         ///< batches that wait, a shard
  std::size_t waiting_bytes_max = std::size_t{128} << 20U;  ///< and their bytes on the wire
};

}  // namespace l4::scoring
