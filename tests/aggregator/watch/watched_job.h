// A running job made by hand, watched by a JobWatch on a clock of its own: for tests of
// aggregator/watch.
//
// One agent and one rank a node. Times are milliseconds from `kBegin`; every call is a batch that
// arrives then. run_to() lets time pass and looks as often as a caller would.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aggregator/job/job_state.h"
#include "aggregator/watch/job_watch.h"

namespace l4::watch::test {

inline const TimeMs kBegin = from_civil(2024, 3, 5, 10, 0, 0, 0);
inline TimeMs after(std::int64_t ms) {
  return kBegin + Millis{ms};
}

/// Floors of 10 s and 60 s.
Options quick_options();

class WatchedJob {
 public:
  explicit WatchedJob(int nodes, Options options = quick_options());

  // Each call moves the clock to `ms` and polls the watch on the way.
  void iterate(int node, std::int64_t iteration, std::int64_t ms);
  /// All nodes complete first..last, the first one at `ms`; gives the time of the last.
  std::int64_t iterate_all(std::int64_t first, std::int64_t last, std::int64_t ms,
                           std::int64_t pace = 1000);
  void say(int node, const std::string& text, std::int64_t ms, Level level = Level::info,
           Stage stage = Stage::training, std::uint8_t marks = 0);
  void say_all(const std::string& text, std::int64_t ms, Stage stage);
  void process(int node, wire::ProcessState state, std::int64_t ms, wire::Exit exit = {},
               std::int32_t attempt = 0);
  /// Every node's process lives.
  void processes(std::int64_t ms, std::int32_t attempt = 0);
  /// The node's later lines belong to another attempt.
  void restart(int node, std::int32_t attempt);

  void run_to(std::int64_t ms);
  /// Reports a diagnosis with this state to the watch, as a caller would.
  void diagnosed(State state);
  /// Causes that were due since the last call, in order.
  std::vector<Cause> causes();
  /// The first trigger with this cause since the last call of causes(); fails if there is none.
  Trigger trigger(Cause cause) const;
  /// When it was due, ms from kBegin.
  std::int64_t due_at(Cause cause) const;

  JobWatch watch;
  job::TemplateTable templates;
  job::JobState state{"job", 0, templates};
  /// The caller's answer to triggers; by default the report that the job is healthy.
  State answer = State::healthy;
  /// Milliseconds from kBegin; the watch is polled at next_check() alone.
  std::int64_t now = 0;

 private:
  struct Node {
    std::map<std::string, LocalTemplateId> known;
    std::uint64_t line = 0;
    std::uint32_t source = 0;
    std::int32_t attempt = 0, pid = 100;
    bool defined = false;
  };
  struct Due {
    Trigger trigger;
    std::int64_t ms;
  };
  wire::Batch batch_of(int node);
  wire::Segment& line(wire::Batch& batch, int node, const std::string& text, Level level,
                      Stage stage, std::uint8_t marks);
  void give(const wire::Batch& batch);
  void look();

  std::vector<Node> nodes_;
  std::vector<Due> due_;
};

}  // namespace l4::watch::test
