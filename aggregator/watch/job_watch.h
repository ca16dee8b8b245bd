// Watches one running job, cheaply: says when a full diagnosis is worth its cost, and why.
//
// Flow: the scoring thread that owns the job calls applied() after JobState::apply, due() when
// next_look() says so, diagnoses if there are triggers, and gives the report to diagnosed(). What
// live knows and the state does not goes to the diagnosis by live(). The cost follows the batch; a
// look costs the processes and agents of the job at most, and is needed once a second at most. All
// times are the aggregator's clock, none is read here. Each cause triggers once until diagnosed()
// (or a minute) re-arms it; what came in between triggers then. After a restart resumed() learns
// from the loaded job; save() is for looks at the past alone. One thread.
// Bounds: about 40 KB a job, 300 B a rank (a process, a source that prints iterations) and 100 B an
// agent; the rooms' headers have the numbers.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aggregator/diagnose/live.h"
#include "aggregator/diagnose/report.h"
#include "aggregator/watch/process_board.h"
#include "aggregator/watch/progress.h"
#include "aggregator/watch/telling_lines.h"
#include "aggregator/watch/trigger.h"

namespace l4::watch {

struct Options {
  Millis suspect_floor{60'000};   ///< no silence shorter than this is suspected
  Millis confirm_floor{300'000};  ///< nor confirmed, unless by other evidence
  Millis device_wait{30'000};     ///< a process that waits longer (state D) is looked at
  Millis rearm{60'000};           ///< a cause whose diagnosis never came
};

/// How the silence of a job stands.
struct Standing {
  bool suspect = false, confirmed = false;
  std::optional<TimeMs> since;  ///< last progress
  Millis deadline{0};           ///< after it the silence is suspected
  std::string waits;            ///< what the job does since: "iteration 17 was done"
};

class JobWatch {
 public:
  explicit JobWatch(Options options) : options_(options), processes_(options.device_wait) {}

  void applied(const job::JobState& state, const wire::Batch& batch, TimeMs arrival);
  /// `heard`: when the agent was last heard of.
  void agent_lost(const std::string& agent, TimeMs heard);
  void agent_back(const std::string& agent, TimeMs now);
  /// Nobody is heard, and no fault of the job: what lies between two signs of life now is no pause
  /// of it.
  void unheard();
  /// Other floors, from now on.
  void set(const Options& options) { options_ = options; }
  /// After a restart of the aggregator: learns from what was loaded; deadlines start now.
  void resumed(const job::JobState& state, TimeMs now);

  /// What live() and standing() rest on, for a look at the past: triggers under way are not saved,
  /// and neither is what a Shelf or Options gave.
  void save(ByteWriter& out) const;
  /// Into a new one; the reader fails if the bytes are of no use.
  void load(ByteReader& in);

  /// What is due, each cause once; most telling first.
  std::vector<Trigger> due(TimeMs now);
  /// When due() should be called at the latest; none as long as nothing can become due by itself.
  std::optional<TimeMs> next_look() const;
  void diagnosed(const diagnose::Report& report, TimeMs now);

  /// For diagnose::Options.
  diagnose::Live live(TimeMs now) const;
  Standing standing(TimeMs now) const;
  /// As it was diagnosed: nothing more is expected of the job.
  bool is_over() const;
  const Progress& progress() const { return progress_; }

  /// What jobs of the same kind have shown, until this one has shown it itself.
  void warm(PauseKind kind, Millis longest) { progress_.pauses().warm(kind, longest); }
  void cool() { progress_.pauses().cool(); }
  /// Lines of a failure that are normal in them; a fatal one is telling nevertheless.
  void set_normal(TellingLines::Normal normal) { lines_.set_normal(std::move(normal)); }

 private:
  struct AgentPresence {
    std::uint32_t number = 0;
    std::optional<TimeMs> heard;  ///< lines, since the attempt iterates
    std::optional<TimeMs> lost;   ///< since then; of one that is back, until the job goes on, too
    std::optional<TimeMs> back;
    std::uint64_t ticks_at_loss = 0;
    bool late = false;  ///< lost when the job had failed already
    Millis largest{0};
    std::uint32_t gaps = 0;  ///< while iterations went on
    bool told = false;
  };
  struct Slot {
    std::optional<Trigger> waiting;
    std::optional<TimeMs> fired;  ///< not re-armed yet
  };

  template <class Archive, class Self>
  static void persist(Archive& archive, Self& self);
  void fire(Trigger trigger);
  void note_agent(AgentPresence& agent, const wire::Batch& batch, const Progress::Step& step,
                  TimeMs now);
  void moved(const Progress::Step& step, TimeMs now);
  void note_left(const std::vector<wire::ProcessFact>& facts, TimeMs arrival);
  void find_those_back(const Progress::Step& step, TimeMs now);
  void find(const std::string& name, AgentPresence& agent, TimeMs now);
  void look_at_silence(TimeMs now);
  void look_at_agents(TimeMs now);
  void look_again(TimeMs now);
  bool other_evidence() const;
  Millis suspect_after() const;
  std::string waits_text() const;

  Options options_;
  Progress progress_;
  TellingLines lines_;
  ProcessBoard processes_;
  std::map<std::string, AgentPresence> agents_;
  std::set<std::string> back_;  ///< agents that are, so that progress looks at these alone
  std::array<Slot, kCauses> slots_;
  std::optional<TimeMs> suspected_, confirmed_;  ///< progress that was the last then
  std::optional<TimeMs> evidence_;               ///< newest error line or process that left
  std::optional<TimeMs> look_again_;             ///< after an error line
  std::optional<TimeMs> left_;  ///< a process left badly, and the job has not gone on since
  std::uint64_t ticks_at_evidence_ = 0, ticks_at_left_ = 0;
  bool slow_by_pace_ = false;
  State state_ = State::unknown;  ///< as it was diagnosed
  bool failed_ = false;           ///< and not gone on since
  std::uint64_t ticks_at_failure_ = 0, attempts_at_failure_ = 0;
  std::optional<TimeMs> failed_at_, agents_looked_;
};

}  // namespace l4::watch
