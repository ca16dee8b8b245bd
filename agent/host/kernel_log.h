// The kernel's messages from /dev/kmsg, as records with a time, a level and a text.
//
// Flow: the agent calls `poll` when `descriptor` is readable. Records become lines (`as_lines`) of
// a source of kind kernel, and evidence (kernel_evidence.h). The position of a record is its
// sequence number, which the kernel counts from boot on: with FileId.key made of the boot id, a
// batch covers [from, to) of sequences, and a restarted agent goes on at `Options::next`. Records
// that the kernel overwrote unread are a gap, counted. Times: the clock of the kernel's stamps may
// drift from the clock that counts since boot. So a record that was not there at the last poll is
// not dated before that poll. Messages from before `fence` are counted and left out. One thread;
// never waits. Bounds: records of 8 KiB, `records_per_poll`. A failure to open is reported once and
// tried again every 30 s.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/host_time.h"
#include "agent/host/notices.h"
#include "common/base/vocabulary.h"

namespace l4::host {

struct KernelRecord {
  std::uint64_t sequence = 0;
  SinceBoot since_boot{0};
  TimeMs time;
  Level level = Level::unknown;
  std::uint8_t priority = 6;  ///< syslog's, 0 to 7
  bool kernel = true;         ///< written by the kernel, not by a process through it
  std::string text;           ///< may hold several lines
};

class KernelLog {
 public:
  struct Options {
    std::string path = "/dev/kmsg";
    /// Sequence number of this boot to continue at; if empty, reading begins at the oldest record,
    /// or with `from_end` behind the newest.
    std::optional<std::uint64_t> next = {};
    bool from_end = false;
    std::size_t records_per_poll = 4096;
    Millis retry{30'000};
  };
  struct Stats {
    std::uint64_t records = 0, lost = 0, fenced = 0, seen_before = 0, malformed = 0;
  };
  using Sink = std::function<void(const KernelRecord&)>;

  explicit KernelLog(Options options);
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /// Gives the new records; true if there may be more at once.
  bool poll(const HostTime& now, const Sink& sink);
  /// Messages stamped earlier are left out; set to the begin of the oldest job that runs.
  void fence(SinceBoot begin) { fence_ = begin; }

  int descriptor() const { return fd_; }  ///< -1 while it is not open
  std::uint64_t next_sequence() const {
    return next_;
  }  ///< all earlier records were given or counted
  const Stats& stats() const { return stats_; }
  std::vector<Notice> flush_notices() { return notices_.flush(); }

 private:
  bool open(const HostTime& now);
  void cut(const HostTime& now, const Sink& sink);
  void header(std::string_view line, const HostTime& now, const Sink& sink);

  Options options_;
  int fd_ = -1;
  std::optional<SinceBoot> retry_at_;
  std::string pending_;  // a FIFO or file may end within a record
  bool skipping_ = false;
  std::uint64_t next_ = 0;
  bool started_ = false;
  SinceBoot fence_{0};
  std::optional<SinceBoot> drained_;  // when there was nothing left to read
  Stats stats_;
  Notices notices_;
};

/// `kern  :err   : 2026-11-20T15:54:42,123000+00:00 text`, a line for each line of the text, as
/// `dmesg -x --time-format iso` prints it and agent/decode reads it.
std::string as_lines(const KernelRecord& record);

}  // namespace l4::host
