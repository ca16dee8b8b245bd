// The state that the classes of one Tailer share: table, time, alarms, the sink.
//
// Private to agent/tail; one thread. `sink` is set during a turn only. Alarms may be early or
// stale: the part, log or folder that is woken checks its own state. At most one alarm is noted for
// each of them, so their number is bounded; stale ones are dropped when they are due.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tail/log_table.h"
#include "agent/tail/tailer.h"

namespace l4::tail {

/// Log files that may be open, however few descriptors there are.
inline constexpr std::size_t kOpenMin = 4;

struct Alarm {
  enum class Of : std::uint8_t { part, log, quiet, folder, poll };
  Millis at{0};
  Of of = Of::part;
  std::uint64_t key = 0;  ///< key of the part, or id of the log
  std::string folder = {};
  bool operator>(const Alarm& other) const { return at > other.at; }
};

struct Context {
  Context(Options given, FileSystem& system)
      : options(std::move(given)), files(system), table(options.seed) {}

  Options options;
  FileSystem& files;
  LogTable table;
  Counters counters = {};
  Now now = {};
  Sink* sink = nullptr;
  std::priority_queue<Alarm, std::vector<Alarm>, std::greater<>> alarms = {};
  std::deque<LogId> ready = {};
  std::vector<LogPart*> open = {};
  std::uint64_t scan = 0;                   ///< number of the current or last scan of a folder
  std::vector<std::uint64_t> resumed = {};  ///< parts known from positions, not found yet
  bool keeps_heads = false;                 ///< heads of new parts, until all positions are known
  Millis cool_until{0};                     ///< writes are not looked up before then

  /// Queues the log for the reader.
  void wake(TailedLog& log);
  void touch(LogPart& part);
  void set_alarm(LogPart& part, Millis at);
  /// Nothing of the log is read before `until`.
  void hold(TailedLog& log, Millis until);
  /// The search for the part begins now and lasts at most Options::search.
  void search(LogPart& part);
  void warn(std::string_view kind, const std::string& file, std::string reason,
            std::uint64_t bytes = 0);

  TextPosition place(const LogPart& part, std::uint64_t offset) const;
  void announce(TailedLog& log);
  void give(LogPart& part, std::string_view bytes);
  /// The bytes between part.read and `to` will not come.
  void missing(LogPart& part, std::uint64_t to, Missing why);
  /// Erases a closed part that is committed, and ends a log of which nothing is left to read. True
  /// if the part is gone.
  bool retire(LogPart& part);
  void end_if_over(TailedLog& log);
  void keep_open(LogPart& part, std::unique_ptr<TextFile> file);
  void close_file(LogPart& part);
};

}  // namespace l4::tail
