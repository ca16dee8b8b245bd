// Watches folders and patterns and hands over the bytes of their logs, each once per life.
//
// Place in the flow: first step of a live agent, before decode. Its owner calls `resume` with the
// committed positions, then `turn` whenever `wait` says so, and `commit` as acknowledgements come.
// Files are identified by device and inode and by their first bytes, so renamed, copied, truncated
// and packed logs are read on where they are now, the oldest part of a log first. One thread.
//
// Bounds: Options. A file that cannot be read is reported once, by Sink::warning, and tried again
// with back-off; lost bytes are reported by Sink::missing. Backpressure: `scan` in place of `turn`;
// bytes stay in their files.
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

/// `steady` never steps and serves for deadlines; `wall` is compared with file times.
struct Now {
  Millis steady{0};
  TimeMs wall{};
};

struct Options {
  /// Folders, files, or patterns: `*`, `?` and `[]` within a name, `**` for any folders.
  std::vector<std::string> sources;
  std::vector<std::string> excludes;
  /// A file that is older than this when it is found is read from its end.
  Millis old_after = std::chrono::hours{24};
  std::size_t bytes_per_turn = 4 << 20;
  std::size_t bytes_per_file = 1 << 20;  ///< bytes read in one visit; then other files are read
  std::size_t descriptors_max = 256;     ///< see descriptors_allowed()
  std::size_t files_max = 200'000;
  Millis pause{100};         ///< time between two reads of a file that is being written
  Millis pause_most{1'000};  ///< upper bound of the pause
  /// Bytes that make the pause a millisecond longer: rarer scans cost less for each byte.
  std::size_t bytes_per_pause_ms = 4 << 10;
  Millis slow_poll{10'000};     ///< all folders are scanned this often, also without a notice
  Millis blind_poll{1'000};     ///< poll of folders whose writes are not noticed
  Millis quiet_after{1'000};    ///< a last line without its end is offered
  Millis search{2'000};         ///< longest search for the file that a log was moved or copied into
  Millis deleted_hold{60'000};  ///< a deleted file is kept open for its last bytes
  Millis retry_max{60'000};     ///< longest time between tries to open a file
  std::uint64_t seed = 0;       ///< random start of the keys of files; must differ between starts
};

/// How far a file is counted: from the aggregator's WELCOME, or the local cache of it.
struct Position {
  wire::FileId file;
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
  std::uint64_t known = 0;  ///< size last seen; 0: not known
  bool operator==(const Position&) const = default;
};

/// The origin of positions. Those of the local cache may be some seconds old: files that were begun
/// since then have positions which are not known yet.
enum class Known : std::uint8_t { by_us, by_the_aggregator };

struct Counters {
  std::uint64_t bytes = 0, lost_bytes = 0, skipped_bytes = 0;
  std::uint64_t logs = 0, files = 0, open_files = 0, folders = 0, watches = 0;
  std::uint64_t rotations = 0, truncations = 0, copies_found = 0;
  std::uint64_t turns = 0, overflows = 0, closed_for_others = 0, read_errors = 0, left_out = 0;
  std::uint64_t heads = 0;  ///< first bytes that are kept until all positions are known
};

struct Wait {
  int fd = -1;                      ///< if readable, call turn; -1: do not wait for it now
  std::optional<Millis> at_most{};  ///< call turn after this time; none: wait for fd alone
};

class Tailer {
 public:
  /// Error: an invalid pattern, or no source at all.
  static Result<Tailer> make(Options options, FileSystem& files, std::unique_ptr<Watcher> watcher);
  ~Tailer();
  Tailer(Tailer&&) noexcept;
  Tailer& operator=(Tailer&&) noexcept;

  /// Called once before the first turn, perhaps without positions, and again with the positions of
  /// the aggregator. Bytes that the aggregator has beyond our own are skipped. Returns the logs
  /// that the aggregator knows under another key: the caller drops what it holds of them, and they
  /// are read again from what is committed.
  std::vector<LogId> resume(std::span<const Position> positions,
                            Known known = Known::by_the_aggregator);
  /// All files that the aggregator counts are known here: drops the heads that were kept to find
  /// them.
  void all_known();
  /// Reads some bytes of the logs that have changed. True if there is more: call again.
  bool turn(Sink& sink, Now now);
  /// Called instead of `turn`, about every second, while there is no room for bytes: notices which
  /// files appear and disappear, and reads nothing. A deleted file is held open for twice
  /// `deleted_hold`; then its unread bytes are missing.
  void scan(Sink& sink, Now now);
  Wait wait(Now now) const;

  /// The bytes before `offset` are counted; they hold `lines` lines.
  void commit(std::uint64_t key, std::uint64_t offset, std::uint64_t lines);
  /// Reads all logs again from what is committed, also those that have ended: the receiver refused
  /// batches, or a spool is lost. Bytes that cannot be read again are missing.
  void rewind();

  /// Changes the bound on open files; those used longest ago are closed. If more files are read
  /// without a break, they are opened in turn.
  void hold_open(std::size_t most);

  /// The next turn has another sink: each log is announced to it once there is something to read,
  /// and bytes that are not committed are read again. Open files stay open, deleted ones too.
  void begin_anew();

  /// Positions of all files that are known; for PositionsFile.
  std::vector<Position> positions() const;
  const Counters& counters() const;
  const Options& options() const;

 private:
  struct State;
  explicit Tailer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace l4::tail
