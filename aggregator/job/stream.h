// What the aggregator keeps of one source: counts, times, stages, iterations.
//
// Place in the flow: wire::Segment -> here; detectors read it through aggregator/job/view.h. Plain
// state owned by JobState, one thread. Bounds: iterations past kIterationsMax are dropped oldest
// first, timers past kTimedIterationsMax; everything else follows the number of templates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "aggregator/job/sequence_pool.h"
#include "common/wire/batch.h"

namespace l4::job {

/// One template in one stream.
struct EventStats {
  std::uint64_t count = 0;
  std::uint64_t first_line = 0, last_line = 0;
  std::optional<TimeMs> first_time, last_time;  ///< printed, or of the segment around it
  bool first_time_exact = false;
  Stage first_stage = Stage::unknown;
  std::optional<Iteration> first_iteration, last_iteration;
  std::uint32_t segments = 0;
};

struct IterationRecord {
  std::optional<TimeMs> begin, end;
  SequenceId sequence{0};
  bool completed = false;
  std::vector<wire::TimerTotal> timers;
};

/// The stream entered `stage` at `line`.
struct StageChange {
  Stage stage = Stage::unknown;
  std::uint64_t line = 0;
  std::optional<TimeMs> time;
  std::optional<TimeMs> end;  ///< newest time seen in it
};

struct ParameterSeen {
  std::vector<wire::Parameter> values;
  std::uint64_t count = 0;
};

struct Stream {
  static constexpr std::size_t kIterationsMax = 4096;
  static constexpr std::size_t kTimedIterationsMax = 512;
  static constexpr std::size_t kTuplesMax = 64;

  wire::SourceDefinition source;
  std::uint32_t agent = 0;
  std::unordered_map<std::uint32_t, EventStats> events;  // by local template
  std::map<std::uint32_t, std::vector<ParameterSeen>> parameters;
  std::map<Iteration, IterationRecord> iterations;
  std::vector<StageChange> stages;
  std::optional<Iteration> last_completed, last_started;
  std::optional<TimeMs> last_completed_time, first_completed_time;
  std::optional<TimeMs> begin, end;  ///< event times
  std::uint64_t last_line = 0;
  std::uint64_t timed_last_line = 0;      ///< last line that printed a time; 0 if none does
  std::uint64_t tail_line = 0;            ///< first line of the newest segment
  std::uint64_t last_completed_line = 0;  ///< last line that completed an iteration
  std::uint64_t lines = 0;
  std::uint64_t dropped_iterations = 0;
  bool counted = false;  ///< iterations are counted, not printed
  double gap_max_ms = 0;  ///< largest silence between two timed segments so far

  void apply(const wire::Segment& segment, SequencePool& sequences);

  /// Makes way for printed iterations where until now only signs of progress were counted.
  void forget_iterations();

 private:
  void apply_events(const wire::Segment& segment);
  void apply_iteration(const wire::Segment& segment, SequencePool& sequences);
  void apply_stage(const wire::Segment& segment);
};

}  // namespace l4::job
