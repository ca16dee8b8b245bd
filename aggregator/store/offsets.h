// How far each file of each agent is counted: what makes a line count exactly once (docs/WIRE.md,
// "Positions are the sequence").
//
// Flow: the receive thread asks decide() for every batch; what it says `apply` to goes into the
// journal, then commit() moves the offsets on and the job gets the batch; an ack goes out once the
// journal is durable. A restarted agent is told positions() after the journal was flushed. Offsets
// are derivable: a saved table plus commit() of every later record gives the same. One thread.
// Bounds: files per agent and agents; what goes is the least recently used, and is counted. A file
// that was let go and speaks again is taken on where it stands: never counted twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/byte_stream.h"
#include "common/base/error.h"
#include "common/base/time.h"
#include "common/wire/batch.h"

namespace l4::store {

/// A committed position: all before `offset` is counted.
struct Position {
  wire::FileId file;
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
  TimeMs used;
  bool operator==(const Position&) const = default;
};

/// From where the agent must read a file again.
struct Wanted {
  wire::FileId file;
  std::string path;
  std::uint64_t offset = 0;
  bool operator==(const Wanted&) const = default;
};

struct Decision {
  enum class What : std::uint8_t { apply, ignore, refuse };
  What what = What::apply;
  std::vector<Wanted> wanted;  ///< of a refusal: every file of the batch that does not fit
};

struct OffsetLimits {
  std::size_t files_per_agent = 8192;
  std::size_t agents = 65'536;
  Millis age = std::chrono::days(30);  ///< for expire()
};

struct OffsetStats {
  std::uint64_t applied = 0, ignored = 0, refused = 0;  ///< batches, as decided
  std::uint64_t forgotten = 0;                          ///< files that were let go
  std::uint64_t adopted = 0;        ///< files taken on in the middle, because some were let go
  std::uint64_t skipped_bytes = 0;  ///< of adopted files, and of records that the journal lost
};

class OffsetTable {
 public:
  explicit OffsetTable(OffsetLimits limits = {}) : limits_(limits) {}

  /// Apply: every file goes on where it stood. Ignore: all of it was counted. Refuse: a gap, or
  /// counted in part; nothing of it may be applied. A batch without any bytes is applied: what it
  /// says can be said twice.
  Decision decide(const wire::Batch& batch);
  /// The batch is in the journal, now or (on replay) since long; the offsets are where it ends.
  void commit(const wire::Batch& batch, TimeMs now);

  /// Committed positions of one agent, by file.
  std::vector<Position> positions(const std::string& agent) const;
  std::vector<std::string> agents() const;
  std::size_t files() const;
  const OffsetStats& stats() const { return stats_; }

  /// Lets go of files that nobody has said anything of for the age that is allowed.
  void expire(TimeMs now);

  void save(ByteWriter& out) const;
  Result<void> load(std::span<const std::byte> bytes);

 private:
  struct Agent {
    std::map<std::string, Position> files;  // by key of the file
    std::uint64_t forgotten = 0;
    TimeMs used;
  };
  static std::string key_of(const wire::Coverage& coverage);
  void make_room(Agent& agent);
  void make_room_for_agent();

  OffsetLimits limits_;
  std::map<std::string, Agent> agents_;
  std::uint64_t agents_forgotten_ = 0;
  OffsetStats stats_;
};

}  // namespace l4::store
