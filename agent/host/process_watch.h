// The processes behind the log files of this host: their identity, state and end.
//
// Flow: the agent adds log files (each with its node, as one host may play several) -> `poll` gives
// the facts that changed -> the agent ships them. `find` gives the process that a kernel message
// names. So a silent process is told apart from a dead or stopped one.
// /proc is scanned after a new log file, an exit, or `ask_scan`. It is scanned again while a file
// has no rank or a young process has no environment (1 s, 2 s, ... 32 s later, then no more), and
// never more often than the size of the last scan allows. States are read every `state_every`,
// those of helpers every fourth time. Exits come by pidfd: wait on `descriptor`, then poll. Running
// and sleeping count as one state. A wait for a device is reported when it was seen twice, a stop
// when the process used no CPU since the last poll. A process is kept after its end, so that a late
// line finds it. One thread. Bounds: Options; what does not fit is counted. A file that may not be
// read is reported once.
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
    std::string ranks_job;  ///< see FoundProcess
    /// Job whose batches reported the process for the previous agent; empty: it did not run then.
    std::string job_before;
    bool acked = false;  ///< the aggregator has acknowledged its end
  };
  /// A process as it is saved for the next agent on this host.
  struct Remembered {
    ProcessFact fact;
    std::vector<LogFile> logs;
    Via via = Via::direct;
    std::string job;     ///< job whose batches reported it
    bool acked = false;  ///< its end is acknowledged
  };

  ProcessWatch(Proc proc, Options options);
  ~ProcessWatch();

  /// False if there are too many. A file that is known already always fits.
  bool add_log(LogFile log);
  void remove_log(const FileKey& key);
  void ask_scan() { scan_asked_ = true; }

  /// Facts that are new or have changed since the last call. Never waits.
  std::vector<ProcessFact> poll(const HostTime& now);
  /// Facts of all processes, also of those that have ended: for an aggregator that has lost them.
  std::vector<ProcessFact> facts() const;

  std::vector<Remembered> remembered() const;
  /// Changes whenever the result of `remembered` may have changed; never 0.
  std::uint64_t revision() const { return revision_; }
  /// The aggregator has all facts that `poll` gave: exits up to now need not be reported again.
  void ack_ends();
  /// Restores the processes that the agent before this one watched; called before the first poll. A
  /// process that ran then and does not run any more has ended. Exits of the last hour that were
  /// not yet acknowledged are reported again. Processes of another boot are left out.
  void resume(std::vector<Remembered> processes, const HostTime& now);

  /// The process that had this number at that time; null if it was not watched.
  const Process* find(Pid pid, SinceBoot when) const;
  /// Ranks that write the file; if some write it more directly than others, only those. Ended ranks
  /// are given only if they belong to the newest start, because another job may write the same file
  /// later.
  std::vector<const Process*> ranks_of(const FileKey& key) const;
  /// Like `ranks_of`, but processes of any part.
  std::vector<const Process*> writers_of(const FileKey& key) const;
  /// The first attempt in which ranks of a job wrote the file, among the ranks that are remembered.
  std::optional<std::int32_t> first_attempt(const FileKey& key, const std::string& job) const;
  /// Start of the oldest watched process of a job; empty if no process of it is watched.
  std::optional<SinceBoot> began(const std::string& job) const;

  /// Readable when a process has ended; -1 while none is watched.
  int descriptor() const { return exits_.descriptor(); }
  const std::string& boot_id() const { return boot_id_; }
  const Stats& stats() const { return stats_; }
  std::vector<Notice> flush_notices() { return notices_.flush(); }

 private:
  struct Watched : Process {
    bool alive = true, changed = true;
    SinceBoot left{0};
    std::optional<TimeMs> waits_since;  // first seen in D or T
  };
  template <class Wanted>
  std::vector<const Process*> writers_of(const FileKey& key, Wanted wanted) const;
  void scan(const HostTime& now);
  void merge(const Found& found, const HostTime& now);
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
