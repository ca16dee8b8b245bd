// The journal: applied batches in append-only segment files, replayed after a crash.
//
// Flow: GroupCommit (group_commit.h) hands over groups of records; commit() has written and synced
// them when it says so. Segments are named GENERATION-FIRSTSEQ-SALT.l4j. A segment holds the
// sequence numbers from its first to below the first of a later generation: what lies beyond was
// never acknowledged and was written again, so nothing counts twice. After any error the segment
// is cut to what is durable and left for good; the group is written whole to a new one. Nothing is
// ever appended to a file of an earlier process. Kept: all above the floor (what no checkpoint
// covers), and of the rest a ring bounded by size and age, for questions about the past. One
// thread; past reads work on a copy of the list, on any thread.
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
  std::uint64_t bytes_max = std::uint64_t{8} << 30U;  ///< refuses more, whatever the floor
  std::uint64_t seed = std::random_device{}();        ///< of the salts
};

/// One segment file, as far as it is durable.
struct SegmentFile {
  Path path;
  std::uint64_t generation = 0;
  Seq first;               ///< records below belong elsewhere
  std::optional<Seq> end;  ///< first of a later one: records from here on are void
  std::uint32_t salt = 0;
  std::uint64_t bytes = 0;
  std::optional<TimeMs> oldest, newest;  ///< unknown: it must be read to know
};
using SegmentList = std::shared_ptr<const std::vector<SegmentFile>>;

struct Replayed {
  std::uint64_t records = 0, bytes = 0;
  std::uint64_t lost_records = 0;    ///< sequence numbers that should be there
  std::optional<TimeMs> whole_to;    ///< of the last record before the first one that is lost
  Seq whole_from;                    ///< behind the last one that is lost
  bool unread = false;               ///< a file could not be read, or not to its end
  std::uint64_t damaged = 0;         ///< places in the middle of files
  std::uint64_t torn_bytes = 0;      ///< at ends of files: never acknowledged
  std::vector<std::string> trouble;  ///< "FILE: offset 123: 456 bytes are damaged"; at most 16
};

class Journal {
 public:
  /// Looks at what is there and cuts a torn tail off; writes nothing else, so a folder that is
  /// read-only is read as well. Numbers go on behind the last record and `at_least`.
  static Result<Journal> open(Files& files, const Path& folder, JournalOptions options,
                              Seq at_least = {});

  /// Visits what stands above `after`, in order, each once; what cannot be read is counted, said.
  Replayed replay(Seq after, const std::function<void(const Record&)>& visit) const;

  /// Writes and syncs the group. After an error nothing of it is durable; it may be tried again.
  Result<void> commit(RecordGroup& group);
  /// Makes sure that there is a segment to write to: how a writer without work sees room again.
  Result<void> probe();

  /// Drops what is not needed: nothing above `floor` is read again but by the ring.
  void retain(Seq floor, TimeMs now);

  Seq last() const { return last_; }  ///< of what is durable
  /// False until commit() or probe() has made sure of what an earlier process wrote last: nobody
  /// may be told of it before.
  bool settled() const { return unsure_.empty(); }
  SegmentList segments() const;
  std::uint64_t bytes() const;
  std::uint64_t torn_bytes() const { return torn_bytes_; }  ///< cut off at open()
  std::uint64_t abandoned() const { return abandoned_; }    ///< segments left after an error

 private:
  Journal(Files& files, Path folder, JournalOptions options)
      : files_(&files), folder_(std::move(folder)), options_(options), random_(options.seed) {}
  Result<void> look(Seq at_least);
  Result<bool> inspect_newest(SegmentFile& segment);
  Result<void> begin_segment(Seq first);
  Result<void> settle();
  void abandon();

  Files* files_;
  Path folder_;
  JournalOptions options_;
  std::mt19937_64 random_;
  std::vector<SegmentFile> segments_;  // by number; the last one is written to if file_ is set
  std::unique_ptr<File> file_;
  Seq last_;
  std::uint64_t generation_ = 0;
  Path unsure_;
  std::uint64_t torn_bytes_ = 0, abandoned_ = 0;
};

struct PastQuery {
  std::string job;
  Seq after;
  TimeMs to;  ///< included; the first record of any job that is later ends it
  std::function<bool()> goes_on = {};  ///< asked at each record of any job; false ends it
};

/// Visits the records of a job above a number, and the notes among them, in order, each once; false
/// ends it. What should be there up to then and is not is counted: damage, or segments that went
/// away meanwhile. Any thread.
Replayed read_past(Files& files, const SegmentList& segments, const PastQuery& query,
                   const std::function<bool(const Record&)>& visit);

}  // namespace l4::store
