// A live agent: tails logs, parses them, ships batches, watches processes and the kernel's log.
//
//   tail::Tailer -> Intake -> pipeline::JobPipeline (one a job) -> ship::Session -> port
//
// A state machine over its port, file system and /proc: reads no clock, starts no thread but the
// one for raw lines that are asked for (agent/lines/desk.h). Its owner calls `step` when one of
// `descriptors` is readable and when the time it returned is over. Positions are the aggregator's;
// a file in the state folder remembers them, so that an agent that finds no aggregator reads on
// after five seconds all the same. Bounds: Settings; when the link takes no more, nothing is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/daemon/intake.h"
#include "agent/daemon/kernel_feed.h"
#include "agent/daemon/own_log.h"
#include "agent/daemon/raw_lines.h"
#include "agent/daemon/settings.h"
#include "agent/host/limits.h"
#include "agent/host/watch_file.h"
#include "agent/segment/rule_pack.h"
#include "agent/ship/session.h"
#include "agent/tail/positions_file.h"

namespace l4::daemon {

struct Moment {
  Millis steady{0};
  host::HostTime host;
  wire::Instant instant() const { return {steady, host.wall}; }
};

class Agent : private ship::Pipeline {
 public:
  struct World {
    std::string name, boot_id, software;
    std::uint64_t incarnation = 0, seed = 0;  ///< drawn at the start
    std::unique_ptr<wire::ClientPort> port;
    host::Proc proc;
    OwnLog* log = nullptr;               ///< outlives the agent
    std::optional<tail::Tailer> tailer;  ///< of the agent before: it has deleted files open
  };
  /// What `make` would refuse; else the rule packs that it would use.
  static Result<segment::RulePackSet> check(const Settings& settings);
  static Result<std::unique_ptr<Agent>> make(Settings settings, World world, Moment now);
  ~Agent() override;

  /// Does what is due. Gives how long the owner may wait at most.
  Millis step(Moment now);
  /// What to wait for beside that; -1 where there is none.
  std::vector<int> descriptors() const;

  /// Reads no further and ships what it has. Step on until `done`, or as long as there is time;
  /// then `close`. What is not committed by then is read again by the next agent.
  void stop(Moment now);
  bool done() const;
  void close(Moment now);

  /// Takes over what may change while the agent runs, and says what may not.
  void reload(Settings settings, Moment now);

  /// Many jobs are idle, and nothing is under way: after `make_room` another agent with another
  /// incarnation may take over, with the tailer that it gives. This one is done for then.
  bool is_crowded() const;
  std::optional<tail::Tailer> make_room(Moment now);

  /// "3 jobs, 24 files, connected": for systemd and for people.
  std::string status() const;
  std::string metrics() const;  ///< for Prometheus

 private:
  struct Counted {
    std::uint64_t offset = 0, lines = 0;
    bool kernel = false;  ///< of the kernel's log, which is no file that is followed
  };
  Agent(Settings settings, World world, segment::RulePackSet packs, Moment now);

  void read_from(const std::vector<wire::Position>& committed) override;
  bool knows(std::uint64_t file_key) const override;
  void committed(const std::vector<wire::Coverage>& coverage) override;
  void define_again(const std::string& job, const std::vector<LocalTemplateId>& templates) override;
  void asked(const wire::Ask& question) override;
  bool said(ship::Saying kind, std::string_view what) override;
  void begin_tailing(const std::vector<tail::Position>& positions, tail::Known known);
  void begin_alone();
  bool goes_back(const std::vector<wire::Position>& committed) const;
  void change_sources();
  void watch_processes();
  void watch_closely();
  void tell_processes();
  void found(const tail::TextPosition& place, const std::string& root);
  void read();
  void look();
  void flush(bool all);
  void answer_questions();
  void look_at_limits();
  void save_memory();
  bool is_grown() const;
  void save_descriptors();
  void remember();
  void remember_processes();
  bool kept(const char* what, const Result<void>& saved, bool& badly);
  void resume_processes();
  std::vector<tail::Position> positions() const;
  void tell(const std::vector<host::Notice>& notices);
  void ship(wire::Batch&& batch);
  Millis next_step(Millis session) const;
  bool may_read() const;
  bool may_be_replaced() const;
  bool all_is_told() const;
  bool may_hear_kernel() const;

  Settings settings_;
  World world_;
  segment::RulePackSet packs_;
  Moment now_;
  Millis began_{0};
  std::unique_ptr<host::ProcessWatch> watch_;
  Owners owners_;
  Jobs jobs_;
  Intake intake_;
  std::optional<KernelFeed> kernel_;
  host::Limits limits_;
  ship::Session session_;
  std::optional<tail::Tailer> tailer_;
  tail::PositionsFile positions_file_;
  host::WatchFile watch_file_;
  std::unordered_map<std::uint64_t, Counted> counted_;  // committed, by file key
  std::vector<wire::Ask> questions_;
  RawLines raw_lines_;
  std::vector<host::ProcessFact> facts_;  // that wait for the job they belong to
  std::optional<Settings> reloaded_;      // sources that wait until nothing is under way
  Millis look_at_{0}, flush_at_{0}, watch_at_{0}, limits_at_{0}, remember_at_{0}, paused_until_{0};
  Millis watch_closely_until_{0}, owned_by_{0};
  std::set<std::string> living_;  // jobs of processes that run, as last remembered
  std::optional<Millis> decide_in_, over_memory_since_;
  std::uint64_t resident_first_ = 0;  // soon after the start
  std::uint64_t tailers_made_ = 0, bytes_before_ = 0, lines_committed_ = 0, remembered_ = 0;
  bool more_ = false, stopping_ = false, offered_ = false, files_short_ = false;
  bool remember_due_ = true, positions_badly_ = false, processes_badly_ = false;
  bool lines_wait_ = false, ends_wait_ = false;  // for room on the link; to be committed
};

}  // namespace l4::daemon
