// The offsets up to which each file of each agent is counted: they make a line count exactly once
// (docs/WIRE.md, "Positions are the sequence").
//
// Flow: receive::PositionTable decides whether a batch counts; the journal gets such a batch, then
// commit() advances the offsets and the job gets the batch; the ack goes out once the journal is
// durable. An agent that reconnects receives positions(), which are durable by then. Offsets are
// derivable: a saved table plus commit() of every later record gives the same. One thread. Bounds:
// files per agent (PositionTable refuses more) and agents; the least recently used is evicted and
// counted. If files of an agent were evicted, its unknown files continue at the offset that the
// agent names (`adopts`), so that no line counts twice.
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

/// A committed position: every byte before `offset` is counted.
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
  Millis age = std::chrono::days(30);  ///< used by expire()
};

struct OffsetStats {
  std::uint64_t forgotten = 0;      ///< files that were evicted
  std::uint64_t adopted = 0;        ///< files continued in the middle after an eviction
  std::uint64_t skipped_bytes = 0;  ///< bytes of adopted files and of lost records
};

class OffsetTable {
 public:
  explicit OffsetTable(OffsetLimits limits = {}) : limits_(limits) {}

  /// Advances the offsets to the end of the batch, which is in the journal.
  void commit(const wire::Batch& batch, TimeMs now);

  /// Committed positions of one agent, by file.
  std::vector<Position> positions(const std::string& agent) const;
  /// Last batch of an agent's newest incarnation; 0 and 0 for an unknown agent.
  struct Newest {
    std::uint64_t incarnation = 0, sequence = 0;
  };
  Newest newest(const std::string& agent) const;
  /// True if files of this agent, or of an evicted agent that may have been this one, were evicted.
  bool adopts(const std::string& agent) const;
  /// Forgets files that are gone from the node and counted to their end.
  void release(const std::string& agent, const std::vector<std::uint64_t>& files);
  std::vector<std::string> agents() const;
  std::size_t files() const;
  const OffsetStats& stats() const { return stats_; }

  /// Evicts agents that have sent nothing for `OffsetLimits::age`. Files of other agents stay,
  /// however old: an evicted file that still lies in its folder would be read again.
  void expire(TimeMs now);

  void save(ByteWriter& out) const;
  Result<void> load(std::span<const std::byte> bytes);

 private:
  struct AgentOffsets {
    std::map<std::string, Position> files;  // by key of the file
    std::uint64_t forgotten = 0;
    Newest newest;
    TimeMs used;
  };
  static std::string key_of(const wire::Coverage& coverage) {
    return key_of(coverage.file.key, coverage.path);
  }
  static std::string key_of(std::uint64_t key, const std::string& path);
  void evict_files(AgentOffsets& agent);
  void evict_agents();

  OffsetLimits limits_;
  std::map<std::string, AgentOffsets> agents_;
  std::uint64_t agents_forgotten_ = 0;
  OffsetStats stats_;
};

}  // namespace l4::store
