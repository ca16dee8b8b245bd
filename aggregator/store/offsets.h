// How far each file of each agent is counted: what makes a line count exactly once (docs/WIRE.md,
// "Positions are the sequence").
//
// Flow: receive::PositionTable decides whether a batch is counted; one that is goes into the
// journal, then commit() moves the offsets on and the job gets the batch; an ack goes out once the
// journal is durable. An agent that comes back is told positions(), which are durable by then.
// Offsets are derivable: a saved table plus commit() of every later record gives the same. One
// thread. Bounds: files per agent (those of PositionTable, which refuses more) and agents; what
// goes is the least recently used, and is counted. Of an agent of which something was let go, files
// that are not known are taken on where they stand (`adopts`): never counted twice.
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

struct OffsetLimits {
  std::size_t files_per_agent = 200'000;
  std::size_t agents = 65'536;
  Millis age = std::chrono::days(30);  ///< for expire()
};

struct OffsetStats {
  std::uint64_t forgotten = 0;      ///< files that were let go
  std::uint64_t adopted = 0;        ///< files taken on in the middle, because some were let go
  std::uint64_t skipped_bytes = 0;  ///< of adopted files, and of records that the journal lost
};

class OffsetTable {
 public:
  explicit OffsetTable(OffsetLimits limits = {}) : limits_(limits) {}

  /// The batch is in the journal, now or (on replay) since long; the offsets are where it ends.
  void commit(const wire::Batch& batch, TimeMs now);

  /// Committed positions of one agent, by file.
  std::vector<Position> positions(const std::string& agent) const;
  /// Last batch of its newest incarnation; 0 and 0 of an agent that is not known.
  struct Newest {
    std::uint64_t incarnation = 0, sequence = 0;
  };
  Newest newest(const std::string& agent) const;
  /// Something of this agent, or of one that may have been this, was let go.
  bool adopts(const std::string& agent) const;
  /// These files are gone from the node, and all of them is counted.
  void release(const std::string& agent, const std::vector<std::uint64_t>& files);
  std::vector<std::string> agents() const;
  std::size_t files() const;
  const OffsetStats& stats() const { return stats_; }

  /// Lets go of agents that have said nothing for the age that is allowed. Files of others stay,
  /// however old: one that is let go and stands still in its folder would be read again.
  void expire(TimeMs now);

  void save(ByteWriter& out) const;
  Result<void> load(std::span<const std::byte> bytes);

 private:
  struct Agent {
    std::map<std::string, Position> files;  // by key of the file
    std::uint64_t forgotten = 0;
    Newest newest;
    TimeMs used;
  };
  static std::string key_of(const wire::Coverage& coverage) {
    return key_of(coverage.file.key, coverage.path);
  }
  static std::string key_of(std::uint64_t key, const std::string& path);
  void make_room(Agent& agent);
  void make_room_for_agent();

  OffsetLimits limits_;
  std::map<std::string, Agent> agents_;
  std::uint64_t agents_forgotten_ = 0;
  OffsetStats stats_;
};

}  // namespace l4::store
