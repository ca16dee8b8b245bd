// When a running job last made progress, and by what.
// Flow: JobWatch gives each batch after JobState has applied it; the cost follows the batch.
// Progress is an iteration that some source completed, or the first line of another stage after it;
// other lines do not count. Before the first iteration of an attempt any line is progress, and in
// jobs that mark no iterations always. Times are on the aggregator's clock: arrival of the batch,
// or the time at which the agent read the line if that was at most 2 s earlier. One thread. Bounds:
// 16 B for each source that completed an iteration in this attempt, at most 262,144 of them; Pauses
// and Pace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "aggregator/job/job_state.h"
#include "aggregator/watch/pace.h"
#include "aggregator/watch/pauses.h"

namespace l4::watch {

class Progress {
 public:
  /// Changes that a batch or a call made.
  struct Step {
    bool moved = false;       ///< progress of any kind
    bool ticked = false;      ///< an iteration that no source had completed before
    bool started = false;     ///< a new attempt, according to the files
    bool long_pause = false;  ///< a pause ended that was far longer than usual
  };

  /// `agent_number` tells agents of the job apart.
  Step applied(const job::AgentSlice& agent, std::uint32_t agent_number, const wire::Batch& batch,
               TimeMs arrival);
  /// Another attempt began: pauses that were learned stay, the clock starts anew.
  void restart(TimeMs now);
  /// The time until the next progress does not count as a pause, because an agent was away.
  void interrupt() { interrupted_ = true; }
  /// Continues as if the job had been watched, from the durations of its iterations; the last one
  /// is just done.
  void resume(const job::JobState& state, const std::vector<double>& iterations_ms,
              std::optional<Iteration> completed, TimeMs now);

  std::optional<TimeMs> last() const { return last_; }
  PauseKind kind() const { return kind_; }
  /// No iteration was completed in this attempt, so every line counts.
  bool by_activity() const { return !iterated_; }
  std::optional<Iteration> newest() const { return newest_; }
  /// The number that the newest iteration's line printed; its epoch may have begun at 0.
  std::int64_t newest_printed() const { return newest_ ? newest_->value() - before_ : 0; }
  std::uint64_t ticks() const { return ticks_; }  ///< ticks of all attempts
  std::uint64_t attempts() const { return attempts_; }
  const Pauses& pauses() const { return pauses_; }
  Pauses& pauses() { return pauses_; }
  Pace& pace() { return pace_; }
  const Pace& pace() const { return pace_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  void note_attempt(const wire::SourceDefinition& source, TimeMs now, Step& step);
  void segment(const job::Stream& stream, std::uint64_t key, const wire::Segment& segment,
               TimeMs at, Step& step);
  void completed(std::uint64_t key, const wire::Segment& segment, TimeMs at, Step& step);
  void tick(Iteration iteration, TimeMs at, std::uint32_t agent, Step& step);
  void begin_stage(Stage stage, TimeMs at, std::uint32_t agent, Step& step);
  void reach(TimeMs at, PauseKind next, Step& step);

  struct Moment {
    Iteration iteration;
    TimeMs at;
  };

  Pauses pauses_;
  Pace pace_;
  std::optional<TimeMs> last_;    ///< progress of any kind
  std::optional<TimeMs> marked_;  ///< start of the present pause
  PauseKind kind_;
  bool iterated_ = false, printed_ = false, interrupted_ = false;
  std::optional<Iteration> newest_;
  std::int64_t before_ = 0;         ///< iterations of the epochs before the newest iteration's
  std::uint16_t numbering_ = 0;     ///< wire::Segment::numbering of the newest marker
  std::optional<Moment> paced_;     ///< iteration from which pace is measured
  std::uint32_t stages_begun_ = 0;  ///< bits by Stage, since the last iteration
  std::optional<TimeMs> stage_at_;
  std::uint32_t stage_agent_ = 0;
  std::unordered_map<std::uint64_t, Iteration> streams_;  ///< last completed, by agent and source
  std::uint64_t stray_ = 0;  ///< iterations completed since the last one that was new to the job
  std::int64_t order_ = -1;  ///< newest attempt and run that files named
  std::uint64_t ticks_ = 0, attempts_ = 0;
};

}  // namespace l4::watch
