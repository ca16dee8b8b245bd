// Makes appended batches durable together, at most `delay_max` after the first of them.
//
// Flow: the receive thread appends a batch that it is about to apply and gets its number; a thread
// here writes and syncs all that came meanwhile, then says through which number everything is
// durable: only then acks go out. While the disk refuses, append() refuses: nothing more is
// applied, and agents keep what they have. What was taken before stays in memory and is tried again
// every `retry`; trouble and its end are said once each. Bounded by `waiting_bytes_max`.
// Thread-safe. The callbacks run on the thread here and must not call back into stop().
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
  Millis delay_max{100};                ///< at most 200 ms are taken
  std::size_t group_bytes = 1U << 20U;  ///< commits at once from here on
  std::size_t waiting_bytes_max = 64U << 20U;
  Millis retry{1000};
};

struct GroupCommitEvents {
  std::function<void(Seq)> durable;            ///< all up to this number
  std::function<void(const Error&)> refusing;  ///< from now on nothing is taken
  std::function<void()> accepting;             ///< again
};

struct GroupCommitStats {
  std::uint64_t records = 0, bytes = 0, groups = 0;  ///< durable
  std::uint64_t failures = 0;                        ///< commits that failed
  std::uint64_t refused = 0;                         ///< appends
  std::uint64_t journal_bytes = 0, segments = 0, abandoned = 0;
  bool refusing = false;
};

class GroupCommit {
 public:
  /// `now` stamps the records. Starts the thread.
  GroupCommit(Journal journal, GroupCommitOptions options, GroupCommitEvents events,
              std::function<TimeMs()> now);
  /// Makes durable what it can, once, and ends.
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  /// Number of the batch, which came at `time`, or now. An error means that it was not taken and
  /// must not be applied.
  Result<Seq> append(std::string_view job, std::string_view agent, std::span<const std::byte> batch,
                     std::optional<TimeMs> time = {});

  Seq taken() const;  ///< last number given
  /// Last number on disk; 0 at first, until what an earlier process wrote is sure to be there.
  Seq durable() const;

  /// Waits until everything taken is durable; an error if the disk refuses.
  Result<void> flush();
  /// Checkpoints cover everything up to here: older segments may go.
  void set_floor(Seq floor);

  /// For read_past(); what is durable now.
  SegmentList segments() const;
  GroupCommitStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace l4::store
