// The journal: applied batches in append-only segment files, replayed after a crash.
//
// Flow: GroupCommit (group_commit.h) passes groups of records; when commit() returns without an
// error they are written and synced. Segments are named GENERATION-FIRSTSEQ-SALT.l4j. A segment
// owns the sequence numbers from its first up to, but not including, the first of a later
// generation. Its records beyond that are skipped: they were never acknowledged, and a later
// segment holds them again. After any error the segment is truncated to its durable bytes and
// abandoned; the whole group is written to a new segment. A process never appends to a file of an
// earlier process. The journal keeps all records above the floor (those that no checkpoint covers),
// and older ones as a ring bounded by size and age, for questions about the past. One thread; reads
// of the past work on a copy of the segment list, on any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "aggregator/store/record.h"

namespace l4::store {

struct JournalOptions {
  std::uint64_t segment_bytes = 64U << 20U;
  std::uint64_t ring_bytes = std::uint64_t{2} << 30U;
  Millis ring_age = std::chrono::hours(1);
  /// A larger journal refuses more records, whatever the floor.
  std::uint64_t bytes_max = std::uint64_t{8} << 30U;
  std::uint64_t seed = std::random_device{}();  ///< makes the salts
};

/// The durable part of one segment file.
struct SegmentFile {
  Path path;
  std::uint64_t generation = 0;
  Seq first;               ///< records below belong to other segments
  std::optional<Seq> end;  ///< first number of a later segment: records from here on are void
  std::uint32_t salt = 0;
  std::uint64_t bytes = 0;
  std::optional<TimeMs> oldest, newest;  ///< empty: unknown until the file is read
};
using SegmentList = std::shared_ptr<const std::vector<SegmentFile>>;

struct Replayed {
  std::uint64_t records = 0, bytes = 0;
  std::uint64_t lost_records = 0;    ///< missing sequence numbers
  std::optional<TimeMs> whole_to;    ///< time of the last record before the first lost one
  Seq whole_from;                    ///< first record behind the last lost one
  bool unread = false;               ///< a file could not be read in full
  std::uint64_t damaged = 0;         ///< damaged places in the middle of files
  std::uint64_t torn_bytes = 0;      ///< bytes torn at ends of files; never acknowledged
  std::vector<std::string> trouble;  ///< "FILE: offset 123: 456 bytes are damaged"; at most 16
};

class Journal {
 public:
  /// Reads the folder and truncates a torn tail; writes nothing else, so that a read-only folder
  /// can be read. New records are numbered behind the last record and behind `at_least`.
  static Result<Journal> open(Files& files, const Path& folder, JournalOptions options,
                              Seq at_least = {});

  /// Visits the records above `after`, in order, each once; unreadable ones are counted and
  /// reported.
  Replayed replay(Seq after, const std::function<void(const Record&)>& visit) const;

  /// Writes and syncs the group. After an error no record of it counts as durable, and the same
  /// group may be committed again.
  Result<void> commit(RecordGroup& group);
  /// Opens a segment for writing, so that a writer without records notices when the disk has space
  /// again.
  Result<void> probe();

  /// Removes old segments: those at or below `floor` that the ring does not keep either.
  void retain(Seq floor, TimeMs now);

  Seq last() const { return last_; }  ///< number of the last durable record
  /// False until commit() or probe() has made the last records of an earlier process durable for
  /// sure; before that they must not be acknowledged.
  bool is_sure() const { return unsure_.empty(); }
  SegmentList segments() const;
  std::uint64_t bytes() const;
  std::uint64_t torn_bytes() const { return torn_bytes_; }  ///< truncated at open()
  std::uint64_t abandoned() const { return abandoned_; }    ///< segments abandoned after an error

 private:
  Journal(Files& files, Path folder, JournalOptions options)
      : files_(&files), folder_(std::move(folder)), options_(options), random_(options.seed) {}
  Result<void> scan_folder(Seq at_least);
  Result<bool> inspect_newest(SegmentFile& segment);
  Result<void> begin_segment(Seq first);
  Result<void> rewrite_unsure();
  void abandon();

  Files* files_;
  Path folder_;
  JournalOptions options_;
  std::mt19937_64 random_;
  std::vector<SegmentFile> segments_;  // by number; the last one is written to if file_ is set
  std::unique_ptr<File> file_;
  Seq last_;
  std::uint64_t generation_ = 0;
  Path unsure_;  // the segment whose last records an earlier process wrote
  std::uint64_t torn_bytes_ = 0, abandoned_ = 0;
};

struct PastQuery {
  std::string job;
  Seq after;
  TimeMs to;  ///< included; the first later record of any job ends the query
  std::function<bool()> goes_on = {};  ///< called at each record of any job; false ends the query
};

/// Visits the records of a job above a number, and the notes among them, in order, each once, until
/// `visit` returns false. Missing records up to then are counted: damaged ones, and those of
/// segments that were removed meanwhile. Any thread.
Replayed read_past(Files& files, const SegmentList& segments, const PastQuery& query,
                   const std::function<bool(const Record&)>& visit);

}  // namespace l4::store
