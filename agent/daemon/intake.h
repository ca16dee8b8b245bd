// What the tailer gives goes into the pipeline of the job that the log belongs to.
//
// Flow: tail::Tailer -> here -> pipeline::JobPipeline. Who writes a new log is known a moment after
// it was found: what is read of it until then is held back, for `decide_after` at most. So is what
// comes after its ranks have left: the next job may write the same file, and gets its own lines.
// One thread. Bounds: `held_bytes_max` are held back in all; full, `has_room` is false and the
// owner turns the tailer no further.
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
    Millis launcher_after{10'000};  ///< for the job of a launcher's log, which others name
    std::size_t held_bytes_max = 1u << 20;
    Millis last_words{3'000};   ///< what comes so soon after the ranks have left is theirs
    Millis quiet_again{1'000};  ///< a file that seemed quiet while it was not read
  };
  /// What else must know of files. Called from within Tailer::turn.
  struct Others {
    std::function<void(const tail::TextPosition&, const std::string& root)>
        found;  ///< a part, or renamed
    std::function<void(const wire::FileId&)> forgotten;
    std::function<void(const wire::Warning&)> warned;
    std::function<void()> look_for_writers;  ///< processes are to be looked for
  };
  struct Counts {
    std::uint64_t lost_bytes = 0, skipped_bytes = 0, warnings = 0;
  };

  /// `watched`: processes are looked at, so that it is worth waiting.
  Intake(Options options, const Owners& owners, Jobs& jobs, Others others, bool watched)
      : options_(options),
        owners_(owners),
        jobs_(jobs),
        others_(std::move(others)),
        watched_(watched) {}

  void set_time(tail::Now now) { now_ = now; }
  /// The tailer was not turned for a while: that nothing came says nothing.
  void was_blocked() { blocked_ = true; }
  void turned() { blocked_ = false; }
  bool has_room() const { return held_bytes_ < options_.held_bytes_max; }
  /// Decides where that can be done now; when it must be called again, if there is anything left.
  std::optional<Millis> decide();
  /// Processes are other ones now: who writes the logs?
  void look_again();
  /// All is read again from what is committed. `forget`: by a tailer that knows no log yet.
  void restart(bool forget);
  /// Job of a file that is being followed; empty if it is not known.
  std::string job_of(const host::FileKey& file) const;
  /// The job that a process names, or that its logs belong to; one without a pipeline if none has.
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
    wire::FileId file;        ///< as it was known then
    std::uint64_t known = 0;  ///< size of it
  };
  struct Missed {
    pipeline::FilePosition part;
    std::uint64_t to = 0;
    std::string_view lost;  ///< why, if it is
  };
  struct Quiet {};
  using Held = std::variant<pipeline::FilePosition, Text, Missed, Quiet>;
  struct RoutedLog {
    std::string path, root;
    std::optional<host::FileKey> file;
    std::string job, writers_job;               ///< the latter as its processes say
    std::optional<pipeline::LogNumber> number;  ///< once it is decided
    bool by_process = false, named = false;
    Millis since{0};
    std::vector<Held> held;
    bool doubted = false;            ///< decided, and somebody else may write it by now
    std::optional<Millis> doubt_at;  ///< its ranks have left: what comes later may be another's
    int doubts = 0;
    std::optional<pipeline::FilePosition> here;  ///< where what is given next stands
    bool at_end = true;                          ///< all that was known of the file was given
    std::optional<Millis> quiet_since;           ///< and may be no end of a line
  };

  struct Neighbour {
    std::string job;      ///< that somebody names; empty: there is none
    bool beside = false;  ///< in the same folder, or below it
  };

  void decide(RoutedLog& log, const Owner& owner);
  std::optional<Owner> decide_by_name(RoutedLog& log);
  void decide_by_place(RoutedLog& log, Owner owner);
  bool holds(const RoutedLog& log) const { return !log.number || log.doubted; }
  void doubt(RoutedLog& log);
  void believe(RoutedLog& log);
  void hand_over(RoutedLog& log, const Owner& owner);
  void release(RoutedLog& log);
  void feed(RoutedLog& log, const wire::FileId& file, std::uint64_t known, std::string_view bytes);
  void tell_warnings();
  pipeline::JobPipeline* job_of(const wire::Warning& warning);
  Neighbour neighbour_of(const RoutedLog& log) const;
  pipeline::JobPipeline& pipeline_of(const RoutedLog& log) { return *jobs_.find(log.job); }
  void hold(RoutedLog& log, Held what, std::size_t bytes);
  void give(RoutedLog& log, Held what);

  Options options_;
  const Owners& owners_;
  Jobs& jobs_;
  Others others_;
  bool watched_, blocked_ = false;
  std::size_t quiet_logs_ = 0;
  tail::Now now_;
  std::map<tail::LogId, RoutedLog> logs_;
  std::size_t held_bytes_ = 0, undecided_ = 0;
  std::vector<wire::Warning> warnings_;  ///< as long as there is no job
  Counts counts_;
};

}  // namespace l4::daemon
