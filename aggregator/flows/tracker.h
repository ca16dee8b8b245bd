// One job as its rows come: events, steps of its groups, steps of the job.
//
// Place in the flow: rows of a job's streams -> JobTracker -> JobStep, each once, in order. One
// owner, one thread. Cost: O(1) a row. Bounds: kKept steps with their facts, twice
// `ends_max` ends of steps a group, kSendsMax sends of a pipeline stream in the open step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "aggregator/flows/losses.h"
#include "aggregator/flows/plan.h"
#include "aggregator/flows/step_facts.h"
#include "aggregator/flows/streams.h"

namespace l4::flows {

class JobTracker {
 public:
  static constexpr std::size_t kSendsMax = 128;

  /// What a stream of the job is; `unit` of Stream is an index of units().
  struct Unit {
    std::uint32_t stream = 0;
    std::uint32_t group = kNone, edge = kNone, pipe = kNone;
  };
  /// What is open where the rows end.
  struct GroupNow {
    std::size_t counted = 0;  ///< events since the last boundary
    std::vector<Event> open;  ///< events that are not over
    TimeNs last_end = 0;
  };

  /// `table` is read while this is made; `losses` must outlive it.
  JobTracker(JobPlan plan, const StreamTable& table, const Losses& losses, std::size_t ends_max);

  const JobPlan& plan() const { return plan_; }
  const std::vector<Unit>& units() const { return units_; }

  void add(const Row& row, std::uint32_t unit);
  /// The job wrote to storage.
  void add_storage(TimeNs start, TimeNs end);
  bool has_steps() const { return done_ > 0; }
  /// Steps that closed since they were dropped last, oldest first.
  std::span<const JobStep> steps() const { return std::span(closed_).first(done_); }
  void drop_steps() { done_ = 0; }
  /// Closes what the rows before `now` complete.
  void finish(TimeNs now);

  /// Ends of the steps of a group that are certain, the latest `ends_max` at least.
  const std::vector<TimeNs>& ends(std::size_t group) const { return groups_[group].ends; }
  /// Typical length of a step; zero without a step clock.
  TimeNs period() const { return period_; }
  TimeNs last_row() const { return last_row_; }
  TimeNs first_row() const { return first_row_; }
  /// The longest time without a row.
  TimeNs longest_gap() const { return longest_gap_; }
  /// The step that is open.
  const JobStep& open_step() const { return open_; }
  GroupNow now(std::size_t group) const;
  /// Sends of a pipeline stream in a usual step; 0: not known.
  unsigned usual_sends(std::size_t pipe) const { return pipes_[pipe].usual_sends; }
  TimeNs last_send(std::size_t pipe) const { return pipes_[pipe].last_end; }
  std::uint64_t last_bytes(std::size_t pipe) const { return pipes_[pipe].last_bytes; }
  /// Until when it wrote to storage; zero if it never did.
  TimeNs storage_until() const { return storage_until_; }
  bool writes_storage(TimeNs at) const { return at <= storage_until_; }

 private:
  struct GroupState {
    Assembler assembler;
    std::optional<StepCounter> counter;
    std::vector<std::uint32_t> exporters;
    std::vector<std::uint32_t> card_of;  ///< places in cards: src and dst of each edge
    std::vector<TimeNs> ends;
    TimeNs last_end = 0, boundary = 0;
    bool was_complete = false;
    TimeNs near = 0;  ///< within this time of an end a further event may have been lost
    GroupStep step;
    std::vector<float> came;  ///< of each card in an event
    bool is_torn = false;     ///< the last event lacked an edge
    Event torn;               ///< it, then
  };
  /// What a send of a pipeline stream waited for: the receipt `shift` places earlier of another.
  struct Need {
    std::uint32_t pipe = kNone;
    int shift = 0;
  };
  struct PipeState {
    std::vector<TimeNs> starts, ends;  ///< of this step
    std::uint32_t src_place = 0;       ///< of the card that sends
    TimeNs last_end = 0;
    std::uint64_t last_bytes = 0;
    std::optional<Need> need;
    unsigned usual_sends = 0;
    bool is_learned = false;
  };

  void begin_step(TimeNs begin);
  void sweep(TimeNs now);
  void add_event(std::uint32_t group, const Event& event);
  static void add_lateness(GroupState& state, const Event& event);
  void end_group(std::uint32_t group, const Boundary& boundary);
  void close_step();
  std::optional<TimeNs> agreed_length() const;
  void add_send(std::uint32_t pipe, const Row& row);
  void finish_pipes();
  void learn_need(std::uint32_t pipe);
  float service_of(std::uint32_t pipe) const;
  double storage_within(TimeNs from, TimeNs to) const;

  JobPlan plan_;
  const Losses* losses_;
  std::vector<Unit> units_;
  std::vector<GroupState> groups_;
  std::vector<PipeState> pipes_;
  std::vector<std::vector<std::uint32_t>> pipes_into_, pipes_out_;  ///< by place of the card
  std::unordered_map<std::uint32_t, std::uint32_t> place_of_card_;
  std::size_t ends_max_;
  std::size_t clocks_ = 0;  ///< groups that tell steps
  TimeNs period_ = 0, spread_ = 0;
  TimeNs swept_ = 0, sweep_ = 0;  ///< when all groups were looked at, and how often they are
  JobStep open_;
  std::size_t reported_ = 0;  ///< groups that have ended the open step
  bool was_part_ = false;     ///< not all groups ended the step before
  TimeNs first_report_ = 0, last_report_ = 0, last_end_ = 0;
  std::deque<std::pair<TimeNs, TimeNs>> storage_;
  TimeNs storage_until_ = 0;
  TimeNs first_row_ = 0, last_row_ = 0, longest_gap_ = 0;
  std::vector<JobStep> closed_;  ///< of which some are done, and others kept for their memory
  std::size_t done_ = 0;
};

}  // namespace l4::flows
