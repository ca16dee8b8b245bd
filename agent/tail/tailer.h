// Watches folders and patterns and hands over the bytes of their logs, each once per life.
//
// Place in the flow: first step of a live agent, before decode. `resume` with what is committed,
// then `turn` whenever `wait` says so; `commit` as acknowledgements come. Which file is which is
// told by device and inode and by the first bytes, so renamed, copied, truncated and packed logs
// are read on where they stand now, oldest part of a log first. One thread owns it.
//
// Bounds: Options. What can not be read is told once, by Sink::warning, and tried again with
// back-off; what is lost is told by Sink::missing. Backpressure: `scan` in place of `turn`; bytes
// stay in their files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/tail/file_system.h"
#include "agent/tail/sink.h"
#include "agent/tail/watcher.h"
#include "common/base/error.h"

namespace l4::tail {

/// `steady` never steps and is what deadlines are counted on; `wall` is compared with file times.
struct Now {
  Millis steady{0};
  TimeMs wall{};
};

struct Options {
  /// Folders, files, or patterns: `*`, `?` and `[]` within a name, `**` for any folders.
  std::vector<std::string> sources;
  std::vector<std::string> excludes;
  /// Files seen for the first time that are older are read from their end.
  Millis old_after = std::chrono::hours{24};
  std::size_t bytes_per_turn = 4 << 20;
  std::size_t bytes_per_file = 1 << 20;  ///< in one visit; then the other files have their turn
  std::size_t descriptors_max = 256;     ///< see descriptors_allowed()
  std::size_t files_max = 200'000;
  Millis pause{100};         ///< between two looks at files that are being written
  Millis pause_most{1'000};  ///< ... however much the first one found
  /// What makes the pause a millisecond longer: less is done anew for each byte.
  std::size_t bytes_per_pause_ms = 4 << 10;
  Millis slow_poll{10'000};     ///< everything is looked at, whatever was noticed
  Millis blind_poll{1'000};     ///< where writes are not noticed
  Millis quiet_after{1'000};    ///< a last line without its end is offered
  Millis search{2'000};         ///< for what a log was rotated or copied into
  Millis deleted_hold{60'000};  ///< a deleted file is kept open for its last bytes
  Millis retry_max{60'000};     ///< between tries to open what can not be opened
  std::uint64_t seed = 0;       ///< of the keys of files; must differ between starts
};

/// How far a file is counted: from the aggregator's HELLO, or the local cache of it.
struct Position {
  wire::FileId file;
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
  std::uint64_t known = 0;  ///< size last seen; 0: not known
  bool operator==(const Position&) const = default;
};

/// Who says how far files are counted. What is remembered here may be some seconds old: then texts
/// that were begun since have positions that are not known yet.
enum class Known : std::uint8_t { by_us, by_the_aggregator };

struct Counters {
  std::uint64_t bytes = 0, lost_bytes = 0, skipped_bytes = 0;
  std::uint64_t logs = 0, files = 0, open_files = 0, folders = 0, watches = 0;
  std::uint64_t rotations = 0, truncations = 0, copies_found = 0;
  std::uint64_t turns = 0, overflows = 0, closed_for_others = 0, read_errors = 0, left_out = 0;
  std::uint64_t heads = 0;  ///< first bytes that are kept until all positions are known
};

struct Wait {
  int fd = -1;                      ///< readable: call turn; -1: do not wait for it now
  std::optional<Millis> at_most{};  ///< then call turn; none: only fd
};

class Tailer {
 public:
  /// Error: a pattern that is none, or no source.
  static Result<Tailer> make(Options options, FileSystem& files, std::unique_ptr<Watcher> watcher);
  ~Tailer();
  Tailer(Tailer&&) noexcept;
  Tailer& operator=(Tailer&&) noexcept;

  /// Once before the first turn, if only with nothing; again with what the aggregator says. What is
  /// ahead of us is skipped. Given back are logs that turn out to be known under another key: drop
  /// what you hold of them, they are read again from what is committed.
  std::vector<LogId> resume(std::span<const Position> positions,
                            Known known = Known::by_the_aggregator);
  /// The aggregator counts nothing that is not known here: what was kept for that is let go.
  void all_known();
  /// Reads some bytes of what has changed. True if there is more: call again.
  bool turn(Sink& sink, Now now);
  /// In place of `turn` while there is no room for bytes, every second or so: reads none, but knows
  /// what comes and goes. A deleted file is held twice as long as `deleted_hold`, then it is
  /// missing.
  void scan(Sink& sink, Now now);
  Wait wait(Now now) const;

  /// All before `offset` is counted, `lines` lines in all.
  void commit(std::uint64_t key, std::uint64_t offset, std::uint64_t lines);
  /// Reads all again from what is committed: the receiver refused, or a spool is lost. Also logs
  /// that have ended. What can no longer be read then is missing.
  void rewind();

  /// Holds so many files open at most from now on; those used longest ago are closed. Files that
  /// are read without a break take their turns.
  void hold_open(std::size_t most);

  /// Who listens from now on is another: each log is announced again once there is something of it,
  /// and what is not committed is read again. Open files stay open, deleted ones too.
  void begin_anew();

  /// Of all files that are known; for PositionsFile.
  std::vector<Position> positions() const;
  const Counters& counters() const;
  const Options& options() const;

 private:
  struct State;
  explicit Tailer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace l4::tail
