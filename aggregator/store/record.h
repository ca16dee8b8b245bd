// The records in a segment file of the journal, and how they are found in a damaged one.
//
// A segment is the 8 bytes "L4JRNL1\n" and then records, each padded to 8 bytes:
//   u32 magic | u32 CRC-32 of all that follows, xor the segment's salt | u32 bytes of batch |
//   u16 bytes of job | u16 bytes of agent | u64 seq | i64 time in ms | job | agent | batch
// Little endian. The salt is random and part of the file's name, so that no batch can contain bytes
// that look like a record. After damage the next record is searched at every eighth byte.
// RecordGroup collects the records that become durable together; scan() reads a segment through a
// small window. One thread each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aggregator/store/files.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4::store {

/// Number of a record in the journal, from 1; one process appends without gaps.
using Seq = Named<struct SeqTag, std::uint64_t>;

/// Views; valid during the call that passes them.
struct Record {
  Seq seq;
  TimeMs time;
  std::string_view job, agent;
  std::span<const std::byte> batch;
  /// True for a note: no batch, but a fact that questions about the past need; see Store::note.
  bool is_note() const { return job.empty() && agent.empty(); }
};

inline constexpr std::size_t kRecordHeadBytes = 32;
inline constexpr std::size_t kRecordBytesMax = (64U << 20U) + (1U << 17U);
inline constexpr std::size_t kNameBytesMax = 240;  ///< name of a job or an agent

/// Size of the record in a file.
std::size_t record_bytes(std::size_t job, std::size_t agent, std::size_t batch);

class RecordGroup {
 public:
  /// The names have at most kNameBytesMax bytes and the record at most kRecordBytesMax.
  void add(const Record& record);
  /// The bytes of the group, with sums for the segment that has this salt.
  std::span<const std::byte> sealed(std::uint32_t salt);
  void clear();

  bool empty() const { return records_.empty(); }
  std::size_t bytes() const { return bytes_.size(); }
  std::size_t records() const { return records_.size(); }
  Seq first() const { return records_.front().seq; }
  Seq last() const { return records_.back().seq; }
  TimeMs oldest() const { return oldest_; }
  TimeMs newest() const { return newest_; }

 private:
  struct Entry {
    Seq seq;
    std::size_t offset = 0;
    std::uint32_t sum = 0;
  };
  Bytes bytes_;
  std::vector<Entry> records_;
  TimeMs oldest_{}, newest_{};
};

std::span<const std::byte> segment_magic();

/// Bytes of a segment that belong to no record.
struct Damage {
  std::uint64_t offset = 0, bytes = 0;
};

struct Scanned {
  std::uint64_t records = 0;
  std::uint64_t end = 0;       ///< offset behind the last record
  std::vector<Damage> damage;  ///< before `end`; at most kDamageListedMax
  std::uint64_t damaged = 0;   ///< number of damaged places
  std::uint64_t tail = 0;      ///< bytes behind `end`: torn, or never finished
};
inline constexpr std::size_t kDamageListedMax = 16;

/// False ends the scan.
using RecordVisit = std::function<bool(const Record& record, std::uint64_t offset)>;

/// Visits the records of the first `bytes` bytes in order. Error if the file cannot be read.
Result<Scanned> scan(File& file, std::uint64_t bytes, std::uint32_t salt, const RecordVisit& visit);

struct Heads {
  std::uint64_t records = 0;
  std::optional<TimeMs> oldest, newest;
  bool whole = false;  ///< by their heads, the records fill the file
};
/// Summarizes the heads of the records, without reading bodies or verifying sums.
Result<Heads> read_heads(File& file, std::uint64_t bytes);

}  // namespace l4::store
