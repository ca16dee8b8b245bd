// The processes behind the log files of this host: who they are, how they are, how they ended.
//
// Flow: the tailer says which log files there are (and of which node: one host may play several),
// `poll` gives facts that changed, the agent ships them; kernel lines that name a pid are asked for
// with `find`. So silence can be told from death and from a stopped process.
// /proc is scanned only after a new log file, an exit, or `ask_scan`, again while a file has no
// rank or a young process no environment (1 s, 2 s, ... 32 s later, then no more), and never more
// often than the last scan's size allows. States are read once a `state_every`, of helpers every
// fourth time. Exits come by pidfd: wait on `descriptor`, then poll. Running and sleeping are one
// state for `since` and for changes; waiting for a device is reported when it was seen twice,
// stopped when no CPU was spent since the last look. What was met before is kept after its end, so
// that a late line finds it. One thread. Bounds: Options; what does not fit is counted. Says once
// what it may not read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/attempts.h"
#include "agent/host/exit_watch.h"
#include "agent/host/notices.h"
#include "agent/host/process_finder.h"

namespace l4::host {

class ProcessWatch {
 public:
  struct Options {
    IdentityHints hints = {};  ///< what the configuration says
    std::string boot_id_path = "/proc/sys/kernel/random/boot_id";
    Pid self = {};  ///< the agent: left out
    std::size_t logs_max = 16'384, processes_max = 1024, gone_max = 1024, pidfds_max = 128;
    std::size_t descriptors_per_poll = 4'000;
    Millis state_every{1000}, scan_gap_min{500};
  };
  struct Stats {
    std::uint64_t scans = 0, descriptors = 0, exits = 0, logs_refused = 0, gone_forgotten = 0;
    HolderScan::Stats last_scan;
  };
  struct Process {
    ProcessFact fact;
    Identity identity;
    std::vector<FileKey> logs;
    Via via = Via::direct;
    /// Job whose batches told of it before the agent was started anew; empty: it did not run then.
    std::string job_before;
    bool told = false;  ///< its end is counted by the aggregator
  };
  /// What the next agent on this host is to know of a process.
  struct Remembered {
    ProcessFact fact;
    std::vector<LogFile> logs;
    Via via = Via::direct;
    std::string job;    ///< whose batches tell of it
    bool told = false;  ///< its end is counted
  };

  ProcessWatch(Proc proc, Options options);
  ~ProcessWatch();

  /// False if there are too many; a file that is known already is none too many.
  bool add_log(LogFile log);
  void remove_log(const FileKey& key);
  void ask_scan() { scan_asked_ = true; }

  /// Facts that are new or have changed since the last call. Never waits.
  std::vector<ProcessFact> poll(const HostTime& now);
  /// All that is known, also those that are gone: for an aggregator that has forgotten.
  std::vector<ProcessFact> facts() const;

  std::vector<Remembered> remembered() const;
  /// Another number whenever `remembered` may give something else; never 0.
  std::uint64_t revision() const { return revision_; }
  /// Nothing that `poll` gave is under way any more: who has ended need not be told of again.
  void ends_are_told();
  /// Takes up what the agent before this one watched, before the first poll: who ran then and does
  /// not any more has left. Who had left within the last hour and was not told of is told of again.
  /// What is of another boot is left out.
  void resume(std::vector<Remembered> processes, const HostTime& now);

  /// The process that had this number at that time; null if it was not watched.
  const Process* find(Pid pid, SinceBoot when) const;
  /// Ranks that write the file, by the most direct way there is. Of those that are gone only who
  /// belonged to the newest start: a file may be written again.
  std::vector<const Process*> ranks_of(const FileKey& key) const;
  /// Likewise, whatever part they play.
  std::vector<const Process*> writers_of(const FileKey& key) const;
  /// Attempt in which the ranks of a job began to write the file, as far as they are remembered.
  std::optional<std::int32_t> first_attempt(const FileKey& key, const std::string& job) const;
  /// When the first process of a job that is watched began; none if there is none.
  std::optional<SinceBoot> began(const std::string& job) const;

  /// Readable when a process has left; -1 as long as there is none to wait for.
  int descriptor() const { return exits_.descriptor(); }
  const std::string& boot_id() const { return boot_id_; }
  const Stats& stats() const { return stats_; }
  std::vector<Notice> take_notices() { return notices_.take(); }

 private:
  struct Watched : Process {
    bool alive = true, changed = true;
    SinceBoot left{0};
    std::optional<TimeMs> waits_since;  // in D or T, seen once
  };
  template <class Wanted>
  std::vector<const Process*> writers_of(const FileKey& key, Wanted wanted) const;
  void scan(const HostTime& now);
  void take_in(const Found& found, const HostTime& now);
  void begin(Watched& process, const FoundProcess& one, const HostTime& now);
  void update(Watched& process, const FoundProcess& one);
  void number(Watched& process, std::int32_t path_attempt);
  void read_state(Watched& process, const HostTime& now);
  void left(Watched& process, const Exit& exit, const HostTime& now);
  bool forget_oldest();
  bool orphaned(const Watched& process) const;
  bool has_rank(const FileKey& key) const;

  Proc proc_;
  Options options_;
  std::string boot_id_;
  std::map<FileKey, LogFile> logs_;
  std::map<std::pair<Pid, SinceBoot>, Watched> processes_;
  ExitWatch exits_;
  AttemptTable attempts_;
  std::unique_ptr<HolderScan> scan_;
  std::vector<LogFile> scanned_;  // logs of the running scan
  bool scan_asked_ = false;
  int retries_ = 0;
  std::optional<SinceBoot> retry_at_, states_at_;
  SinceBoot scan_not_before_{0};
  std::uint64_t rounds_ = 0, revision_ = 1;
  Stats stats_;
  Notices notices_;
};

}  // namespace l4::host
