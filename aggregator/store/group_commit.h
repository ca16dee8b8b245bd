// Makes appended batches durable together, at most `delay_max` after the first of them.
//
// Flow: the receive thread appends a batch before it applies it and gets its number; a thread here
// writes and syncs all batches that came meanwhile, then reports the number up to which everything
// is durable: only then acks go out. While the disk refuses, append() refuses: nothing more is
// applied, and agents keep their batches. Batches accepted before stay in memory and are retried
// every `retry`; a failure and its end are reported once each. Bounded by `waiting_bytes_max`.
// Thread-safe. The callbacks run on the thread here and must not destroy this object.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "aggregator/store/journal.h"

namespace l4::store {

struct GroupCommitOptions {
  Millis delay_max{100};                ///< longer than 200 ms counts as 200 ms
  std::size_t group_bytes = 1U << 20U;  ///< a group of this size is committed at once
  std::size_t waiting_bytes_max = 64U << 20U;
  Millis retry{1000};
};

struct GroupCommitEvents {
  std::function<void(Seq)> durable;            ///< everything up to this number is durable
  std::function<void(const Error&)> refusing;  ///< from now on append() refuses batches
  std::function<void()> accepting;             ///< from now on append() accepts batches again
};

struct GroupCommitStats {
  std::uint64_t records = 0, bytes = 0, groups = 0;  ///< made durable
  std::uint64_t failures = 0;                        ///< commits that failed
  std::uint64_t refused = 0;                         ///< appends that were refused
  std::uint64_t journal_bytes = 0, segments = 0, abandoned = 0;
  bool refusing = false;
};

class GroupCommit {
 public:
  /// `now` stamps the records. Starts the thread.
  GroupCommit(Journal journal, GroupCommitOptions options, GroupCommitEvents events,
              std::function<TimeMs()> now);
  /// Commits the waiting batches, without a retry, and ends.
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  /// Returns the number of the batch, whose record gets `time` or the current time. After an error
  /// the batch must not be applied.
  Result<Seq> append(std::string_view job, std::string_view agent, std::span<const std::byte> batch,
                     std::optional<TimeMs> time = {});

  /// Last number on disk; 0 until the records of an earlier process are durable for sure.
  Seq durable() const;

  /// Waits until everything appended is durable; an Error if the disk refuses.
  Result<void> flush();
  /// Checkpoints cover everything up to `floor`: older segments may be removed.
  void set_floor(Seq floor);

  /// The durable segments, for read_past().
  SegmentList segments() const;
  GroupCommitStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::store
