// Writes the logs of a recorded job again, with the timing that they had, and with all printed
// times moved to now by one constant.
//
// Place in the flow: `l4 demo` writes logs with it that its agents follow. The timing is that of
// the recorded arrivals, else that of the printed times (schedule.h). The constant is a number of
// whole seconds; it is chosen so that no line prints a time that is still to come when it is
// written. Reads no clock. Memory: the text, at most kTextBytesMax, and half as much again. One
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::replay {

struct Options {
  std::filesystem::path from;      ///< folder of a recorded job
  std::filesystem::path to;        ///< the logs are written below it
  std::filesystem::path arrivals;  ///< see arrivals.h; empty: by printed times
  double speed = 1;                ///< from 0.001 to 1e9
};

struct Written {
  std::string node;
  std::filesystem::path file;  ///< below the folder of the node
  std::string_view lines;      ///< whole lines that are complete now; valid during the call
};

struct Fact {
  TimeMs at;  ///< of the replay
  std::string text;
};

class Replay {
 public:
  /// Reads the whole recording. Error: a folder without logs, more text than is held, a row of the
  /// arrivals that is wrong.
  static Result<Replay> load(const Options& options);
  ~Replay();
  Replay(Replay&&) noexcept;
  Replay& operator=(Replay&&) noexcept;

  /// Sorted. Logs whose path names no node belong to one node, mostly called `node`.
  const std::vector<std::string>& nodes() const;
  /// The folder that the agent of the node follows.
  std::filesystem::path folder_of(const std::string& node) const;
  Millis length() const;  ///< at the speed of the options
  /// Sentences about times that cannot be moved, and about logs that are not replayed as they were.
  const std::vector<std::string>& unmoved() const;

  /// Makes the folders and empty logs, and sets the shift. The first line is due within a second.
  /// Error: a folder that cannot be made, or a log that is there already.
  Result<void> begin(TimeMs now);
  bool prints_times() const;               ///< whether any line does
  Millis shift() const;                    ///< added to every printed time; after begin()
  const std::vector<Fact>& facts() const;  ///< from the arrivals; after begin()
  /// Writes what is due, and tells of the lines of each log. Returns when more is due; empty: all
  /// is written. Error: a file that cannot be written.
  Result<std::optional<TimeMs>> step(TimeMs now, const std::function<void(const Written&)>& tell);
  std::uint64_t lines() const;  ///< lines told of so far

 private:
  struct State;
  explicit Replay(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace l4::replay
