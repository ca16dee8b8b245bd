// The processes behind the logs: watched, reported to their jobs, saved for the next agent.
// Flow: Intake names log files -> host::ProcessWatch -> here: facts -> the pipeline of the job that
// they belong to. After a new log, /proc is scanned more often for some seconds, because the writer
// appears a moment later. One thread. Bounds: 8,192 facts wait. Does nothing if processes are not
// watched.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/daemon/intake.h"
#include "agent/daemon/moment.h"
#include "agent/daemon/save_log.h"
#include "agent/daemon/settings.h"
#include "agent/host/process_watch.h"
#include "agent/host/watch_file.h"

namespace l4::daemon {

class ProcessReporter {
 public:
  /// `log` outlives this.
  ProcessReporter(const Settings& settings, const host::Proc& proc, OwnLog& log);

  /// Null: processes are not watched.
  const host::ProcessWatch* watch() const { return watch_.get(); }
  int descriptor() const { return watch_ ? watch_->descriptor() : -1; }

  /// Takes over what the agent before this one saved: which process wrote which log, and which
  /// processes have ended meanwhile.
  void resume(const Moment& now);
  void add_log(host::LogFile log, Millis steady);
  void remove_log(const host::FileKey& file);
  /// A log has no known writer: looks at /proc soon.
  void scan_soon(Millis steady);

  /// True if processes have changed, so that logs may have other writers.
  bool poll(const Moment& now);
  /// When `poll` is due.
  Millis due_at() const { return due_at_; }
  /// Gives the facts to the pipelines of their jobs. `undecided`: the job of some logs is not known
  /// yet, and facts may wait for it.
  void publish(Jobs& jobs, const Intake& intake, bool undecided, Millis steady);
  /// Reports all facts again, for an aggregator that has forgotten them.
  void report_all();
  bool has_facts() const { return !facts_.empty(); }
  /// The aggregator has all that was published: ends need not be reported again.
  void ack_ends();

  /// Saves the facts about processes if they have changed.
  void save(const Intake& intake, Millis steady);
  /// Jobs of the processes that ran when they were last saved.
  const std::set<std::string>& living_jobs() const { return living_jobs_; }

 private:
  void watch_closely(Millis steady);

  OwnLog& log_;
  std::unique_ptr<host::ProcessWatch> watch_;
  host::WatchFile file_;
  SaveLog save_log_;
  std::vector<host::ProcessFact> facts_;  // facts whose job is not known yet
  std::set<std::string> living_jobs_;
  Millis due_at_{0}, closely_until_{0};
  Millis owners_known_at_{0};  // until this time logs may get owners, which are saved
  std::uint64_t saved_revision_ = 0;
  bool ends_unacked_ = false;
};

}  // namespace l4::daemon
