// A live agent: tails logs, parses them, ships batches, watches processes and the kernel's log.
//
//   LogFollower -> Intake -> pipeline::JobPipeline (one a job) -> ship::Session -> port
// A state machine over its port, file system and /proc: it reads no clock, and its only thread
// reads raw lines on demand (agent/lines/desk.h). Its owner calls `step` when one of `descriptors`
// is readable and when the time that `step` returned is over. Positions are the aggregator's; a
// file in the state folder remembers them, so that an agent that finds no aggregator reads on after
// five seconds. Bounds: Settings; when the link takes no more, nothing is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/daemon/intake.h"
#include "agent/daemon/kernel_feed.h"
#include "agent/daemon/link_hints.h"
#include "agent/daemon/load_control.h"
#include "agent/daemon/log_follower.h"
#include "agent/daemon/moment.h"
#include "agent/daemon/nic_reporter.h"
#include "agent/daemon/own_log.h"
#include "agent/daemon/process_reporter.h"
#include "agent/daemon/raw_lines.h"
#include "agent/daemon/settings.h"
#include "agent/daemon/source_hints.h"
#include "agent/host/user_names.h"
#include "agent/segment/rule_pack.h"
#include "agent/ship/session.h"

namespace l4::daemon {

class Agent : private ship::Pipeline {
 public:
  struct World {
    std::string name, boot_id, software;
    std::uint64_t incarnation = 0, seed = 0;  ///< drawn at the start
    std::unique_ptr<wire::ClientPort> port;
    host::Proc proc;
    nic::NicWatch::Stopwatch stopwatch;  ///< measures reads of counters; none: nothing is slow
    host::UserNames::LookUp user_name;   ///< of a file's owner; none: no user is known
    OwnLog* log = nullptr;               ///< outlives the agent
    std::optional<tail::Tailer> tailer;  ///< the previous agent's, with its deleted open files
  };
  /// Gives the rule packs that `make` would use, or the error that it would give.
  static Result<segment::RulePackSet> check(const Settings& settings);
  static Result<std::unique_ptr<Agent>> make(Settings settings, World world, Moment now);
  ~Agent() override;

  /// Does what is due. Returns how long the owner may wait at most.
  Millis step(Moment now);
  /// Descriptors that the owner waits for between steps; -1 where there is none.
  std::vector<int> descriptors() const;

  /// Reads no further and ships what it has. Step on until `done`, or as long as there is time;
  /// then `close`. Bytes not committed by then are read again by the next agent.
  void stop(Moment now);
  bool done() const;
  void close(Moment now);

  /// Applies the settings that may change while the agent runs, and logs those that may not.
  void reload(Settings settings, Moment now);

  /// True if many jobs are idle and nothing is under way. `make_room` then gives the tailer to a
  /// new agent with another incarnation, which takes over; this agent is done.
  bool is_crowded() const;
  std::optional<tail::Tailer> make_room(Moment now);

  /// "3 jobs, 24 files, connected": for systemd and for people.
  std::string status() const;
  std::string metrics() const;  ///< for Prometheus

 private:
  Agent(Settings settings, World world, segment::RulePackSet packs, Moment now);

  void read_from(const std::vector<wire::Position>& committed) override;
  bool knows(std::uint64_t file_key) const override;
  void committed(const std::vector<wire::Coverage>& coverage) override;
  void question(const wire::Ask& question) override;
  bool notify(ship::NoticeKind kind, std::string_view text) override;

  Intake::Listeners intake_listeners();
  void change_sources();
  void read();
  void scan();
  void flush(bool all);
  void flush_due();
  void answer_questions();
  void watch_crowd();
  void save();
  void ship(wire::Batch&& batch);
  Millis next_step(Millis session) const;
  bool may_read() const;
  bool wants_room() const;
  bool may_be_replaced() const;
  bool all_is_acked() const;
  bool may_hear_kernel() const;

  Settings settings_;
  World world_;
  segment::RulePackSet packs_;
  Moment now_;
  Millis began_{0};
  ProcessReporter processes_;
  Owners owners_;
  host::UserNames users_;
  Jobs jobs_;
  Intake intake_;
  LogFollower logs_;
  std::optional<KernelFeed> kernel_;
  NicReporter nics_;
  LoadControl load_;
  ship::Session session_;
  RawLines raw_lines_;
  SourceHints hints_;
  LinkHints link_hints_;
  std::vector<wire::Ask> questions_;
  std::optional<Settings> reloaded_;  // settings whose sources wait until nothing is under way
  Millis scan_at_{0}, flush_at_{0}, save_at_{0};
  std::optional<Millis> early_at_;  // a flush before flush_at_, for what will have waited enough
  std::optional<Millis> decide_in_, crowded_since_;
  bool more_ = false, stopping_ = false, offered_ = false;
  bool clearing_ = false;    // nothing is read until the agent can be replaced
  bool lines_wait_ = false;  // raw lines wait for room on the link
};

}  // namespace l4::daemon
