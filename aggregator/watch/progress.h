// The clock of a running job: when it last made progress, and what that was.
//
// Flow: JobWatch gives each batch after JobState has applied it; the cost follows the batch.
// Progress is an iteration that some source completed, or the first line of another stage since
// then; lines that merely keep arriving are none. Before the first iteration of an attempt any line
// is progress, and so it stays where no iteration is ever marked. Times are the aggregator's: when
// the batch came, or when the agent read the line if that was at most 2 s before.
// One thread. Bounds: 16 B for each source that completed an iteration in this attempt, at most
// 262,144 of them; Pauses and Pace.
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
  /// What a batch, or a call, changed.
  struct Step {
    bool moved = false;    ///< progress of any kind
    bool ticked = false;   ///< an iteration that nobody had completed before
    bool started = false;  ///< a new attempt, by what the files say
  };

  /// `agent_number` tells agents of the job apart.
  Step applied(const job::AgentSlice& agent, std::uint32_t agent_number, const wire::Batch& batch,
               TimeMs arrival);
  /// Another attempt began: pauses that were learned stay, the clock starts anew.
  void restart(TimeMs now);
  /// What passes until the next progress says nothing of the job: an agent was away.
  void interrupt() { interrupted_ = true; }
  /// As if the job had been watched: iterations took this long, so far; the last is just done.
  void resume(const job::JobState& state, const std::vector<double>& iterations_ms,
              std::optional<Iteration> completed, TimeMs now);

  std::optional<TimeMs> last() const { return last_; }
  PauseKind kind() const { return kind_; }
  /// No iteration was completed in this attempt, so every line counts.
  bool by_activity() const { return !iterated_; }
  std::optional<Iteration> newest() const { return newest_; }
  std::uint64_t ticks() const { return ticks_; }  ///< of all attempts
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
  void tick(Iteration iteration, TimeMs at, std::uint32_t agent);
  void begin_stage(Stage stage, TimeMs at, std::uint32_t agent);
  void reach(TimeMs at, PauseKind next);

  struct Moment {
    Iteration iteration;
    TimeMs at;
  };

  Pauses pauses_;
  Pace pace_;
  std::optional<TimeMs> last_;    ///< progress of any kind
  std::optional<TimeMs> marked_;  ///< that a pause is measured from
  PauseKind kind_;
  bool iterated_ = false, printed_ = false, interrupted_ = false;
  std::optional<Iteration> newest_;
  std::optional<Moment> paced_;     ///< iteration whose time pace is measured from
  std::uint32_t stages_begun_ = 0;  ///< bits by Stage, since the last iteration
  std::optional<TimeMs> stage_at_;
  std::uint32_t stage_agent_ = 0;
  std::unordered_map<std::uint64_t, Iteration> streams_;  ///< last completed, by agent and source
  std::uint64_t stray_ = 0;  ///< iterations completed since any was new to the job
  std::int64_t order_ = -1;  ///< newest attempt and run that files named
  std::uint64_t ticks_ = 0, attempts_ = 0;
};

}  // namespace l4::watch
