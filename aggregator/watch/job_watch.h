// Watches one running job cheaply and decides when a full diagnosis is worth its cost.
//
// Flow: the scoring thread that owns the job calls applied() after JobState::apply, due() when
// next_check() says so, diagnoses if there are triggers, and gives the report to diagnosed().
// live() gives the diagnosis what the state does not hold. A batch costs time in proportion to its
// size, due() in proportion to the job's processes and agents; due() is needed at most once a
// second. All times are the aggregator's clock, none is read here. Each cause triggers once until
// diagnosed() (or a minute) re-arms it; evidence in between triggers then. After a restart
// resumed() learns from the loaded job; save() only serves questions about the past. One thread.
// Bounds: about 40 KB a job, 300 B a rank (a process, a source that prints iterations) and 100 B an
// agent; the rooms' headers have the numbers.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aggregator/diagnose/findings/live.h"
#include "aggregator/diagnose/report.h"
#include "aggregator/numbers/watch.h"
#include "aggregator/watch/process_board.h"
#include "aggregator/watch/progress.h"
#include "aggregator/watch/telling_lines.h"
#include "aggregator/watch/trigger.h"

namespace l4::watch {

/// As in force: aggregator/numbers/watch.h says what each number means.
struct Options {
  Millis suspect_floor = numbers::watch().suspect_floor;
  Millis confirm_floor = numbers::watch().confirm_floor;
  Millis device_wait = numbers::watch().device_wait;
  Millis rearm = numbers::watch().rearm;
};

/// How the silence of a job stands.
struct Standing {
  bool suspect = false, confirmed = false;
  std::optional<TimeMs> since;  ///< last progress
  Millis deadline{0};           ///< a longer silence is suspected
};

class JobWatch {
 public:
  explicit JobWatch(Options options) : options_(options), processes_(options.device_wait) {}

  void applied(const job::JobState& state, const wire::Batch& batch, TimeMs arrival);
  /// `heard`: when the agent was last heard of.
  void agent_lost(const std::string& agent, TimeMs heard);
  void agent_back(const std::string& agent, TimeMs now);
  /// A comparison of the nodes raises an alarm about this one.
  void differs(const std::string& node, std::string detail, TimeMs now);
  /// The network shows a failure of the job.
  void seen_from_outside(std::string detail, TimeMs now);
  /// The aggregator hears no agent, for reasons outside the job: the time until the next sign of
  /// life does not count as a pause.
  void unheard();
  /// Applies other floors from now on.
  void set(const Options& options) { options_ = options; }
  /// After a restart of the aggregator: learns from the loaded state; deadlines start now.
  void resumed(const job::JobState& state, TimeMs now);

  /// Saves what live() and standing() need, for questions about the past. Pending triggers, warm
  /// pauses and Options are not saved.
  void save(ByteWriter& out) const;
  /// Loads into a new object only; the reader fails on damaged bytes.
  void load(ByteReader& in);

  /// Triggers that are due, one a cause, strongest cause first.
  std::vector<Trigger> due(TimeMs now);
  /// Latest time for the next call of due(); empty while only new batches can make a trigger due.
  std::optional<TimeMs> next_check() const;
  /// From then on a diagnosis is worth its cost although nothing failed: an iteration took far
  /// longer than usual, and by then the lines of all ranks tell why. Empty if none did.
  std::optional<TimeMs> look_from() const { return look_from_; }
  void diagnosed(const diagnose::Report& report, TimeMs now);

  /// The facts for diagnose::Options.
  diagnose::Live live(TimeMs now) const;
  Standing standing(TimeMs now) const;
  /// The last thing that was done: "iteration 17 was done".
  std::string waits_text() const;
  /// The last diagnosis says that the job has ended.
  bool is_over() const;
  const Progress& progress() const { return progress_; }

  /// Longest pauses of jobs of the same kind; used until this job has enough of its own.
  void warm(PauseKind kind, Millis longest) { progress_.pauses().warm(kind, longest); }
  void cool() { progress_.pauses().cool(); }
  /// Failure lines that are normal in jobs of the same kind; a fatal line still counts.
  void set_normal(TellingLines::Normal normal) { lines_.set_normal(std::move(normal)); }

 private:
  struct AgentPresence {
    std::uint32_t number = 0;
    std::optional<TimeMs> heard;  ///< newest lines since the attempt iterates
    std::optional<TimeMs>
        lost;  ///< lost since then; kept after reconnecting until the job makes progress
    std::optional<TimeMs> back;
    std::uint64_t ticks_at_loss = 0;
    bool late = false;  ///< lost after the job had failed
    Millis largest{0};
    std::uint32_t gaps = 0;  ///< gaps between its lines while iterations went on
    bool told = false;
  };
  struct Slot {
    std::optional<Trigger> waiting;
    std::optional<TimeMs> fired;  ///< set until re-armed
  };

  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  void fire(Trigger trigger);
  void note_agent(AgentPresence& agent, const wire::Batch& batch, const Progress::Step& step,
                  TimeMs now);
  void moved(const Progress::Step& step, TimeMs now);
  void note_left(const std::vector<wire::ProcessFact>& facts, TimeMs arrival);
  void restore_agents(const Progress::Step& step, TimeMs now);
  void restore(const std::string& name, AgentPresence& agent, TimeMs now);
  void check_silence(TimeMs now);
  void check_agents(TimeMs now);
  void recheck_lines(TimeMs now);
  bool other_evidence() const;
  Millis suspect_after() const;

  Options options_;
  Progress progress_;
  TellingLines lines_;
  ProcessBoard processes_;
  std::map<std::string, AgentPresence> agents_;
  std::set<std::string> back_;  ///< names of reconnected agents
  std::array<Slot, kCauses> slots_;
  std::optional<TimeMs> suspected_, confirmed_;  ///< last progress at that time
  std::optional<TimeMs> evidence_;               ///< newest error line or process that left
  std::optional<TimeMs> recheck_at_;             ///< time of the next check after an error line
  std::optional<TimeMs> left_;                   ///< a process exited badly and no progress since
  std::uint64_t ticks_at_evidence_ = 0, ticks_at_left_ = 0;
  bool slow_by_pace_ = false;
  State state_ = State::unknown;  ///< state in the last diagnosis
  bool failed_ = false;           ///< the job has failed, and no progress since
  std::uint64_t ticks_at_failure_ = 0, attempts_at_failure_ = 0;
  std::optional<TimeMs> failed_at_, agents_checked_, look_from_;
};

}  // namespace l4::watch
