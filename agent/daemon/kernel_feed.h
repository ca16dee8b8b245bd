// The kernel's messages as one more log of each job: /dev/kmsg, positions being sequence numbers.
//
// Flow: host::KernelLog -> here -> pipeline::JobPipeline::record. Messages that are evidence
// (agent/host/kernel_evidence.h) become lines as dmesg prints them; other messages are only
// covered. A message that names a process of a job goes to that job alone, and to its rank if the
// process is a rank or helps one. Every other message is evidence about the host, for each job
// here. The key of the file is made of the boot id and the job, so that after a restart of the
// agent each message is counted once. Messages from before a job began are left out. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/daemon/jobs.h"
#include "agent/host/kernel_fact.h"
#include "agent/host/kernel_log.h"
#include "agent/host/process_watch.h"

namespace l4::daemon {

inline constexpr auto kKernelLogPath = "/dev/kmsg";

class KernelFeed {
 public:
  struct Options {
    std::string path = kKernelLogPath;
    std::string boot_id, node;
  };
  /// Committed offset of a file; 0 if nothing is committed.
  using Committed = std::function<std::uint64_t(std::uint64_t key)>;
  /// Job that a process belongs to; empty if it is not known.
  using JobOf = std::function<std::string(const host::ProcessWatch::Process& process)>;

  KernelFeed(Options options, Jobs& jobs, Committed committed, JobOf job_of);

  /// Reads the new messages; true if there may be more at once. `watch` may be null.
  bool poll(const host::HostTime& now, const host::ProcessWatch* watch);
  /// All messages are read again from what is committed.
  void restart();

  int descriptor() const { return log_ ? log_->descriptor() : -1; }
  std::vector<host::Notice> flush_notices();
  std::uint64_t lines() const { return lines_; }

 private:
  struct Feed {
    std::uint64_t key = 0, next = 0;  ///< next sequence number of the job
    pipeline::LogNumber log;
    host::SinceBoot fence{0};  ///< earlier messages are not about the job
  };
  /// A record, whether it is evidence, and the job that gets it.
  struct Message {
    const host::KernelRecord& record;
    bool tells = false;
    std::string job;  ///< empty: all jobs
    std::optional<pipeline::Attribution> whose;
  };
  void open(const host::HostTime& now, const host::ProcessWatch* watch);
  Message read(const host::KernelRecord& record, const host::ProcessWatch* watch) const;
  void give(pipeline::JobPipeline& pipeline, Feed& feed, const Message& message);

  Options options_;
  Jobs& jobs_;
  Committed committed_;
  JobOf job_of_;
  std::unique_ptr<host::KernelLog> log_;
  std::map<std::string, Feed> feeds_;  // by job
  std::uint64_t lines_ = 0;
};

}  // namespace l4::daemon
