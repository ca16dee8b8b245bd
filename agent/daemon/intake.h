// Routes the bytes of each log to the pipeline of the job that the log belongs to.
//
// Flow: tail::Tailer -> here -> pipeline::JobPipeline. The writer of a new log becomes known a
// moment after the log was found. Until then its bytes are held back, for `decide_after` at most.
// Bytes that come after the ranks of a log have left are held back, too: the next job may write the
// same file, and gets its own lines. One thread. Bounds: `held_bytes_max` are held back in all;
// then `has_room` is false and the owner turns the tailer no further.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/daemon/jobs.h"
#include "agent/daemon/owners.h"
#include "agent/tail/tailer.h"

namespace l4::daemon {

class Intake : public tail::Sink {
 public:
  struct Options {
    Millis decide_after{2'000};
    Millis launcher_after{10'000};  ///< wait for a log that names the job of a launcher's log
    std::size_t held_bytes_max = 1u << 20;
    Millis last_words{3'000};   ///< bytes within this time after the ranks have left are theirs
    Millis quiet_again{1'000};  ///< wait for a file that seemed quiet while the tailer was blocked
  };
  /// The parts of the agent that must know of files. Called from within Tailer::turn.
  struct Listeners {
    std::function<void(const tail::TextPosition&, const std::string& root)>
        found;  ///< a part was found or renamed
    std::function<void(const wire::FileId&)> forgotten;
    std::function<void(const wire::Warning&)> warned;
    std::function<void()> writer_unknown;  ///< /proc should be scanned for the writers of a log
    /// The name of a user; nothing while it is not known.
    std::function<std::optional<std::string>(std::uint32_t)> user_name;
  };
  struct Counts {
    std::uint64_t lost_bytes = 0, skipped_bytes = 0, warnings = 0;
  };

  /// `watched`: processes are watched, so that waiting for a writer makes sense.
  Intake(Options options, const Owners& owners, Jobs& jobs, Listeners listeners, bool watched)
      : options_(options),
        owners_(owners),
        jobs_(jobs),
        listeners_(std::move(listeners)),
        watched_(watched) {}

  void set_time(tail::Now now) { now_ = now; }
  /// The tailer was not turned for a while: a log without new bytes is not quiet.
  void was_blocked() { blocked_ = true; }
  void turned() { blocked_ = false; }
  bool has_room() const { return held_bytes_ < options_.held_bytes_max; }
  /// Decides the owners that can be decided now. Returns when to call it again, if any are left.
  std::optional<Millis> decide();
  /// Processes have changed: looks up the owners of all logs again.
  void update_owners();
  /// Names of users have become known.
  void update_users();
  /// All logs will be read again from the committed positions. `forget`: the tailer is new and
  /// knows no log yet.
  void restart(bool forget);
  /// Job of a file that is being followed; empty if it is not known.
  std::string job_of(const host::FileKey& file) const;
  /// The job that a process names, or that its logs belong to; it need not have a pipeline.
  std::string job_of(const host::ProcessWatch::Process& process) const;
  const Counts& counts() const { return counts_; }

  void log_begins(const tail::LogBegin& log) override;
  void part(const tail::TextPosition& place, std::uint64_t lines) override;
  void bytes(const tail::TextPosition& place, std::string_view bytes) override;
  void missing(const tail::TextPosition& place, std::uint64_t to, tail::Missing why) override;
  void quiet(tail::LogId log) override;
  void log_ends(tail::LogId log) override;
  void forgotten(const wire::FileId& file) override;
  void warning(const wire::Warning& warning) override;

 private:
  struct Text {
    std::string bytes;
    wire::FileId file;        ///< as it was when the bytes came
    std::uint64_t known = 0;  ///< size of the text at that time
  };
  struct Missed {
    pipeline::FilePosition part;
    std::uint64_t to = 0;
    std::string_view lost;  ///< reason; empty: not lost
  };
  struct Quiet {};
  using Held = std::variant<pipeline::FilePosition, Text, Missed, Quiet>;
  struct RoutedLog {
    std::string path, root;
    std::optional<host::FileKey> file;
    std::string job, writers_job;               ///< writers_job: as its processes name it
    std::optional<pipeline::LogNumber> number;  ///< set when the owner is decided
    std::optional<std::uint32_t> user;          ///< owner of the file that is read
    bool by_process = false, named = false;
    Millis since{0};
    std::vector<Held> held;
    bool doubted = false;            ///< decided, but another job may write it by now
    std::optional<Millis> doubt_at;  ///< its ranks have left: later bytes may be another job's
    int doubts = 0;
    std::optional<pipeline::FilePosition> here;  ///< position of the next bytes
    bool at_end = true;                          ///< all known bytes of the file were given
    std::optional<Millis> quiet_since;           ///< quiet while the tailer was blocked
  };

  struct Neighbour {
    std::string job;      ///< named by a process, path or setting; empty: none
    bool beside = false;  ///< its log is in the same folder, or below it
  };

  void decide(RoutedLog& log, const Owner& owner);
  std::optional<Owner> decide_by_name(RoutedLog& log);
  void decide_by_place(RoutedLog& log, Owner owner);
  bool holds(const RoutedLog& log) const { return !log.number || log.doubted; }
  void doubt(RoutedLog& log);
  void believe(RoutedLog& log);
  void hand_over(RoutedLog& log, const Owner& owner);
  void tell_user(RoutedLog& log);
  void release(RoutedLog& log);
  void feed(RoutedLog& log, const wire::FileId& file, std::uint64_t known, std::string_view bytes);
  void release_warnings();
  pipeline::JobPipeline* job_of(const wire::Warning& warning);
  Neighbour neighbour_of(const RoutedLog& log) const;
  RoutedLog& log_of(tail::LogId id);
  pipeline::JobPipeline& pipeline_of(const RoutedLog& log);
  void hold(RoutedLog& log, Held what, std::size_t bytes);
  void give(RoutedLog& log, Held what);

  Options options_;
  const Owners& owners_;
  Jobs& jobs_;
  Listeners listeners_;
  bool watched_, blocked_ = false;
  std::size_t quiet_logs_ = 0;
  tail::Now now_;
  std::map<tail::LogId, RoutedLog> logs_;
  std::size_t held_bytes_ = 0, undecided_ = 0;
  std::vector<wire::Warning> warnings_;  ///< these wait for a job
  Counts counts_;
};

}  // namespace l4::daemon
