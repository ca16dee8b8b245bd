// The batches that were offered and are not acknowledged, in order: the first ones in memory, the
// rest in the spool.
//
// Used by ship::Session alone, one thread. Bounds: `memory_bytes_max`, `spool_bytes_max`,
// `batches_max`. Without room nothing more is read: the bytes stay in the logs. If the disk cannot
// be written there is room in memory only, plus the one batch whose write failed; `disk_error` says
// why, `retry_disk` tries again.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "agent/ship/spool.h"
#include "common/wire/batch.h"

namespace l4::ship {

struct QueueOptions {
  std::size_t memory_bytes_max = 4u << 20;
  std::size_t spool_bytes_max = 64u << 20;
  std::size_t batches_max = 4096;
  std::filesystem::path spool;  ///< folder; empty: none
};

/// A batch; only `encoded` may be in the spool instead of in memory.
struct Held {
  std::string job;
  std::uint64_t sequence = 0;
  std::vector<wire::Coverage> coverage;
  std::size_t bytes = 0;
  std::optional<SpoolExtent> spooled;
  bool replaced = false;  ///< replaced by a batch that only accounts for its bytes
  wire::Bytes encoded;    ///< empty if spooled
};

class Queue {
 public:
  explicit Queue(const QueueOptions& options);

  /// Whether a batch of this size fits, unless the disk fails.
  bool has_room(std::size_t bytes) const;
  void push(Held held);
  std::size_t size() const { return held_.size(); }
  const Held& at(std::size_t i) const { return held_[i]; }
  Result<wire::Bytes> load(std::size_t i) const;
  /// Replaces the bytes of batch i.
  void replace(std::size_t i, wire::Bytes encoded);
  Held pop_front();
  void clear();
  void retry_disk();

  std::size_t bytes() const { return memory_bytes_ + spool_.bytes(); }
  std::size_t spool_bytes() const { return spool_.bytes(); }
  /// How full the queue is, from 0 to 1: the larger of the shares of bytes and of batches.
  double fill() const;
  const std::string& disk_error() const { return disk_error_; }

 private:
  void spool_last();

  QueueOptions options_;
  Spool spool_;
  std::deque<Held> held_;
  std::size_t memory_bytes_ = 0;
  std::string disk_error_;  ///< error of the last write; empty if it succeeded
};

}  // namespace l4::ship
