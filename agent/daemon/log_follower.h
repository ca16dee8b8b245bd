// The tailer of an agent and how far each file is committed.
//
// Flow: WELCOME or the file `positions` -> here: where each file is read on -> tail::Tailer. Ack ->
// here -> Tailer::commit. Positions are the aggregator's; the file in the state folder remembers
// them, so that an agent which finds no aggregator can read on. One thread. Bounds: the tailer's.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/daemon/save_log.h"
#include "agent/daemon/settings.h"
#include "agent/tail/positions_file.h"
#include "agent/tail/tailer.h"
#include "common/wire/control.h"

namespace l4::daemon {

class LogFollower {
 public:
  /// `former`: the tailer of the agent before, which holds deleted files open. `settings` and `log`
  /// outlive this.
  LogFollower(const Settings& settings, std::uint64_t seed, std::optional<tail::Tailer> former,
              OwnLog& log);

  /// Null: no log is followed yet.
  tail::Tailer* tailer() { return tailer_ ? &*tailer_ : nullptr; }
  const tail::Tailer* tailer() const { return tailer_ ? &*tailer_ : nullptr; }
  tail::Counters counters() const { return tailer_ ? tailer_->counters() : tail::Counters{}; }
  /// Bytes that were read for this agent.
  std::uint64_t bytes_read() const { return counters().bytes - bytes_of_former_; }

  /// Reads on from the positions in the file, because no aggregator answers. If the aggregator has
  /// other positions, its WELCOME says so.
  void begin_alone(Millis steady);
  /// True if the tailer goes on with these positions; false if all logs are read anew from them.
  bool goes_on(const std::vector<wire::Position>& committed) const;
  /// Reads on from the aggregator's positions.
  void resume(const std::vector<wire::Position>& committed, Millis steady);
  /// Follows the sources that the settings name now, from the committed positions on. The tailer
  /// must exist.
  void change_sources(Millis steady);
  /// Gives the tailer away, for the next agent.
  std::optional<tail::Tailer> release() { return std::exchange(tailer_, std::nullopt); }

  /// Whether the file was read on from a remembered position. A file of which nothing is counted is
  /// read from its beginning, under a key of its own.
  bool knows(std::uint64_t file_key) const;
  std::uint64_t committed_offset(std::uint64_t file_key) const;
  void commit(const std::vector<wire::Coverage>& coverage);
  void forget(std::uint64_t file_key) { committed_.erase(file_key); }
  std::uint64_t lines_committed() const { return lines_committed_; }

  /// Saves the positions if some have changed; `always`: in any case.
  void save(Millis steady, bool always = false);

 private:
  struct Committed {
    std::uint64_t offset = 0, lines = 0;
    bool kernel = false;  ///< position in the kernel's log, which is not a followed file
  };
  void begin(const std::vector<tail::Position>& positions, tail::Known known, Millis steady);
  bool goes_back(const std::vector<wire::Position>& committed) const;
  std::vector<tail::Position> positions() const;

  const Settings& settings_;
  OwnLog& log_;
  std::uint64_t seed_ = 0;
  std::optional<tail::Tailer> former_, tailer_;
  tail::PositionsFile file_;
  SaveLog save_log_;
  std::unordered_map<std::uint64_t, Committed> committed_;  // by file key
  std::uint64_t tailers_made_ = 0, bytes_of_former_ = 0, lines_committed_ = 0;
  bool changed_ = true;  // positions have changed since they were saved
};

/// The logs to follow, from settings or a tailer's options.
auto followed(const auto& from) {
  return std::tie(from.sources, from.excludes, from.old_after);
}

}  // namespace l4::daemon
