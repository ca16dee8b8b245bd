// Settings of the live aggregator; config/aggregator.toml documents them.
//
// Plain values. `Thresholds` (and the options of alerts) may change while it runs; the rest is read
// at the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "aggregator/detect/hang/silence.h"
#include "aggregator/scoring/incident_book.h"
#include "aggregator/scoring/presence.h"
#include "common/base/time.h"

namespace l4::diagnose::clues {
struct Scale;
}  // namespace l4::diagnose::clues

namespace l4::scoring {

struct Thresholds {
  detect::hang::Options hang;
  watch::Options watch;
  IncidentBook::Options incidents;
};

/// Options for each job.
struct JobOptions {
  Thresholds thresholds;
  PresenceOptions presence;
  /// After a diagnosis the job rests for this many times the duration of the diagnosis.
  double rest_factor = 5;
  Millis rest_least{200};
  /// Time until the next diagnosis after a suspicion or trigger; doubled each time.
  Millis recheck{2'000};
  /// The longest time between diagnoses while an incident is open and lines arrive.
  Millis revise{10'000};
  /// The time between diagnoses while no incident is open and lines arrive; at least rest_factor x
  /// 4 times the duration of a diagnosis.
  Millis routine{60'000};
  std::size_t warnings_max = 10'000;
  /// Bounds on the iterations of all ranks together, some 60 B each. A rank keeps 4,096 in a job of
  /// at most 97 ranks, 500 in one of 800, `iterations_enough` up to 12,500 ranks, and 250 in one of
  /// 16,000. So a large job reaches its full size after some minutes.
  std::size_t iterations_soft = 400'000, iterations_max = 4'000'000;
  std::size_t iterations_enough = 320;  ///< detectors use the last 200
  std::string version;                  ///< version in reports
  /// What clues and grounds of a confidence are worth; null: as shipped.
  std::shared_ptr<const diagnose::clues::Scale> scale = {};
};

/// Options for all jobs together; each shard has its share.
struct ShardOptions {
  JobOptions job;
  std::size_t shards = 1;
  Millis checkpoint_every{30'000};  ///< time between checkpoints of a job that has changed
  Millis closes_after{3'600'000};   ///< a job that is silent for so long is over
  Millis keeps_for{21'600'000};     ///< a job that is over stays in memory for so long
  /// Time for diagnoses in one pass over all jobs; then batches have their turn. A diagnosis that
  /// has begun is completed.
  Millis diagnoses_most{20};
  std::size_t jobs_max = 1'000;
  /// Bounds on the saved size of a job, as of its last checkpoint; in memory it is two to four
  /// times as large.
  std::uint64_t job_bytes_max = std::uint64_t{512} << 20U;
  std::uint64_t all_bytes_max = std::uint64_t{2} << 30U;
  std::size_t waiting_max = 16'384;                         ///< waiting batches of a shard
  std::size_t waiting_bytes_max = std::size_t{128} << 20U;  ///< their bytes on the wire
};

}  // namespace l4::scoring
