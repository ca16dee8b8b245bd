// Temporal comparison (the paper, 5.3.2): which rank's iteration differs from what it should be.
//
// Flow: diagnose -> score_job() over a recorded job, or TemporalScorer::observe() per iteration.
// Pure, deterministic for a seed; one owner, one thread. Streams (ranks) are dense numbers from 0.
// An iteration's score is the least directional distance (dtw.h, costs in event_costs.h) to the
// stream's own last 10 iterations and 32 prototypes, to the newest 64 of the job's 512 patterns,
// and to the same iteration of 8 random peers; an equal sequence gives 0 at once. A pattern of
// another rank does not excuse the loss of an event that this other rank never prints (a cut rank 0
// looks like any other rank). An alarm needs a score above max(mu + 3 max(sigma, 1.7), ln(R K)),
// with mu and sigma of the trailing 200 winsorised scores, R streams, K = 100. In a young job one
// lost line is all that can be seen, so both floors are lower: min(1.7, ln(n) / 3), and K =
// iterations seen. Cost and memory per iteration do not depend on the job's length.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_set>
#include <vector>

#include "aggregator/detect/temporal/event_costs.h"
#include "aggregator/detect/temporal/patterns.h"
#include "aggregator/numbers/temporal.h"

namespace l4::detect::temporal {

inline constexpr std::uint32_t kAllStreams = std::numeric_limits<std::uint32_t>::max();
inline constexpr double kUnknownDuration = std::numeric_limits<double>::quiet_NaN();

enum class AnomalyKind : std::uint8_t {
  sequence,      ///< alarm: events are missing, or an extra one is suspicious
  duration,      ///< alarm: one stream is slow, nothing else changed; note: most are slow
  phase_change,  ///< note: most streams show a sequence that none has shown before
  novelty,       ///< note: only extra events, none suspicious (a first checkpoint on one rank)
};

struct Anomaly {
  AnomalyKind kind = AnomalyKind::sequence;
  std::uint32_t stream = kAllStreams;
  std::int64_t iteration = 0;
  double score = 0;      ///< nats; for duration: standard deviations of ln(seconds)
  double threshold = 0;  ///< the score had to exceed it
  std::vector<std::uint32_t> missing, extra;  ///< events, in order of place
};

struct IterationScore {
  std::int64_t iteration = 0;
  double score = 0;    ///< largest over the streams
  double novelty = 0;  ///< median over the streams of the distance to history alone
};

struct TemporalFindings {
  std::vector<Anomaly> alarms;
  std::vector<Anomaly> notes;  ///< shown, but no alarm
  std::vector<IterationScore> iterations;
  std::size_t left_out = 0;  ///< oldest iterations that score_job() had no time for
};

/// As in force: aggregator/numbers/temporal.h says what each number means.
struct TemporalOptions {
  std::uint64_t seed = 1;
  std::size_t history_min = numbers::temporal().history_min;
  std::size_t recent = numbers::temporal().recent, prototypes = numbers::temporal().prototypes,
              shared = numbers::temporal().shared,
              shared_compared = numbers::temporal().shared_compared,
              peers = numbers::temporal().peers;
  std::size_t score_window = numbers::temporal().score_window;
  double sigma_min = numbers::temporal().sigma_min;
  double horizon = numbers::temporal().horizon;
  double phase_change = numbers::temporal().phase_change;
  double slow_limit = numbers::temporal().slow_limit,
         slow_spread_min = numbers::temporal().slow_spread_min;
  double slow_excess_min = numbers::temporal().slow_excess_min;
  std::size_t slow_history_min = numbers::temporal().slow_history_min;
  std::size_t length_max = numbers::temporal().length_max;
  /// Bound on the cells of comparisons and the events looked at, some ns each; beyond it nothing is
  /// compared.
  std::uint64_t work_max = std::uint64_t{1} << 29;
  std::unordered_set<std::uint32_t> suspicious;  ///< events at WARN or above: extra ones do alarm
  std::unordered_set<std::uint32_t> normal;      ///< events of the pool: extra ones cost little
};

/// One stream's events in one iteration.
struct Observation {
  std::uint32_t stream = 0;
  std::span<const std::uint32_t> events;  ///< in order; runs of one event count once
  double seconds = kUnknownDuration;
  bool open = false;  ///< may still grow: nothing counts as missing, and nothing is learned
};

class TemporalScorer {
 public:
  explicit TemporalScorer(TemporalOptions options = {});
  /// One iteration of all streams that have it; peers are sought among these alone.
  TemporalFindings observe(std::int64_t iteration, std::span<const Observation> observations);
  /// The work bound is used up: no more comparisons (TemporalOptions::work_max).
  bool exhausted() const { return work_ >= options_.work_max; }

 private:
  struct Stream {
    StreamPatterns patterns;
    StreamEvents events;
    std::vector<double> scores;  ///< oldest first
    std::size_t iterations = 0;
  };
  /// A pattern, and whether it can say anything about events that its own stream never prints.
  struct Reference {
    PatternRef pattern;
    bool own = false;                       ///< a pattern of the compared stream
    const StreamEvents* witness = nullptr;  ///< the pattern's stream; null: unknown
  };
  struct Nearest {
    double distance = std::numeric_limits<double>::infinity();
    PatternRef reference;
    std::vector<Symbol> unseen;  ///< lost events that the reference could not excuse
  };
  struct Candidate;

  Candidate prepare(const Observation& observation);
  void compare(Candidate& one, std::span<const Candidate> all, std::int64_t iteration);
  Nearest nearest(const Candidate& one, const std::vector<Reference>& references, double below);
  std::vector<Symbol> unseen(const Candidate& one, const Reference& reference) const;
  std::vector<Reference> history_of(const Stream& stream) const;
  std::vector<Reference> peers_of(const Candidate& one, std::span<const Candidate> all,
                                  std::int64_t iteration) const;
  double threshold(const Stream& stream) const;
  Anomaly describe(const Candidate& one, std::int64_t iteration);
  void judge_job(std::span<const Candidate> all, std::int64_t iteration, TemporalFindings& out);
  void judge_duration(std::span<const Candidate> all, std::int64_t iteration,
                      TemporalFindings& out) const;
  double slowness(const Candidate& one) const;
  void learn(const Candidate& one);

  TemporalOptions options_;
  EventCosts costs_;
  SharedPatterns shared_;
  std::vector<Stream> streams_;
  double iterations_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace l4::detect::temporal
