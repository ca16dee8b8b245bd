// State of one source: counts, times, stages, iterations.
//
// Place in the flow: wire::Segment -> here; detectors read it through aggregator/job/view.h. Plain
// state owned by JobState, one thread. Bounds: iterations past kIterationsMax, or what JobState
// lets it keep, are dropped oldest first, timers past kTimedIterationsMax; everything else follows
// the number of templates.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "aggregator/job/event_table.h"
#include "aggregator/job/figure_table.h"
#include "aggregator/job/packed_timers.h"
#include "aggregator/job/sequence_pool.h"
#include "aggregator/job/tuple_pool.h"
#include "common/base/slim_optional.h"
#include "common/wire/batch.h"

namespace l4::job {

struct IterationRecord {
  SlimTime begin, end;
  PackedTimers timers;
  SequenceId sequence{0};
  bool completed = false;
};

/// Iterations of a stream, ascending.
using Iterations = std::deque<std::pair<Iteration, IterationRecord>>;

/// The stream entered `stage` at `line`.
struct StageChange {
  Stage stage = Stage::unknown;
  std::uint64_t line = 0;
  std::optional<TimeMs> time;
  std::optional<TimeMs> end;  ///< newest time seen in the stage
};

/// From iteration `from` on lines print the number less `before`, because an epoch began.
struct EpochBegin {
  Iteration from{0};
  std::int64_t before = 0;
};

/// The round that had begun when a printed iteration was completed.
struct BeatAnchor {
  std::uint32_t beat = 0;
  Iteration iteration{0};
};

/// A parameter tuple of one template, by its id in the job's pool.
struct TupleCount {
  std::uint32_t local = 0;  ///< LocalTemplateId
  TupleId tuple;
  std::uint64_t count = 0;
};

struct Stream {
  static constexpr std::size_t kIterationsMax = 4096, kIterationsLeast = 64;
  static constexpr std::size_t kTimedIterationsMax = 512;
  static constexpr std::size_t kTuplesMax = 64;
  static constexpr std::size_t kStagesMax = 64;
  static constexpr std::uint8_t kStampedMax = 2;
  static constexpr std::size_t kEpochsMax = 256;  ///< the newest are kept

  wire::SourceDefinition source;
  std::uint32_t agent = 0;
  std::uint32_t vectors = 0;           ///< index into AgentSlice::vectors; follows from the source
  EventTable events;                   // by local template
  std::vector<TupleCount> parameters;  // by local template, then in order of appearance
  Iterations iterations;
  std::vector<StageChange>
      stages;  ///< older changes are folded: one entry a stage, from its first to its last
  std::optional<Iteration> last_completed, last_started;
  std::optional<TimeMs> last_completed_time;
  std::optional<TimeMs> begin, end;  ///< event times
  std::optional<TimeMs> arrival;     ///< when the newest line came, by the agent's clock; live only
  std::uint64_t last_line = 0;
  std::uint64_t timed_last_line = 0;      ///< last line that printed a time; 0 if none does
  std::uint64_t tail_line = 0;            ///< first line of the newest segment
  std::uint64_t last_completed_line = 0;  ///< last line that completed an iteration
  std::uint64_t lines = 0;
  std::uint64_t dropped_iterations = 0;
  bool counted = false;        ///< iterations are counted, not printed
  std::uint8_t stamped = 0;    ///< completed iterations whose lines print times, up to kStampedMax
  std::uint64_t iterated = 0;  ///< records that belong to an iteration
  FigureTable figures;
  wire::Reach reach = wire::Reach::unknown;  ///< of the newest completed iteration
  std::uint16_t numbering = 0;               ///< that of the newest segment with an iteration
  std::vector<EpochBegin> epochs;            ///< ascending; empty while numbers go on over epochs
  /// Of a source that prints times in turn, but numbers more rarely or never: its rounds, by
  /// wire::Segment::beat.
  Iterations beats;
  std::uint16_t rounds = 0;                             ///< wire::Segment::rounds of them
  std::optional<BeatAnchor> first_anchor, last_anchor;  ///< where numbers are printed, too

  /// Fewer than `count` lines stand behind this one.
  /// No line has printed a time since the first iteration was completed: bars told how much time
  /// went by, but not from when on.
  bool is_dated_loosely() const { return stamped < kStampedMax && iterations.size() > kStampedMax; }
  bool is_among_last(std::uint64_t line, std::uint64_t count) const {
    return line + count > last_line;
  }
  /// The number that lines print for an iteration.
  Iteration printed(Iteration iteration) const;

  void apply(const wire::Segment& segment, SequencePool& sequences, TuplePool& tuples,
             std::size_t iterations_kept = kIterationsMax);
  /// Later times than `time` were of another clock than the log's (wire::Segment::clock_returned).
  void step_back(TimeMs time);
  /// Keeps the newest `most` iterations.
  void keep_iterations(std::size_t most, SequencePool& sequences);

  /// Drops all that is known of these templates (ascending); their lines stay counted.
  void forget(const std::vector<std::uint32_t>& locals, TuplePool& tuples);
  /// Drops all iterations: printed ones replace counted signs of progress, or another marker's
  /// numbers replace those of the former.
  void forget_iterations(SequencePool& sequences);
  void forget_parameters(TuplePool& tuples);
  /// Drops the older half of the sequences; the iterations stay.
  void forget_old_sequences(SequencePool& sequences);

  /// Ids of sequences and tuples refer to the pools, which are saved separately.
  void save(ByteWriter& out) const;
  void load(ByteReader& in, const SequencePool& sequences, const TuplePool& tuples);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self, const SequencePool* sequences,
                      const TuplePool* tuples);
  void apply_events(const wire::Segment& segment);
  void apply_parameters(const wire::Segment& segment, TuplePool& tuples);
  void apply_iteration(const wire::Segment& segment, SequencePool& sequences);
  void apply_beat(const wire::Segment& segment, SequencePool& sequences);
  void note_anchor(const wire::Segment& segment, SequencePool& sequences);
  void forget_beats(SequencePool& sequences);
  void note_epoch(const wire::Segment& segment);
  void apply_stage(const wire::Segment& segment);
  void enter(Stage stage, std::uint64_t line, std::optional<TimeMs> first,
             std::optional<TimeMs> last);
  void fold_stages();
};

}  // namespace l4::job
