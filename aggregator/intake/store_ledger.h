// Makes batches durable and hands them on: the one place where a batch becomes counted.
// Flow: receive::AgentServer, whose PositionTable has checked that the batch begins where its files
// are counted, -> apply(): journal, offsets, the job's shard -> report_durable(): reports the
// durable batches to the server, which acknowledges them. The OffsetTable survives a restart; a
// PositionTable is filled from it when an agent connects. If the store refuses batches (disk full),
// the agents keep them: an agent's batches are reported as failed once the store accepts again and
// the agent's accepted batches are durable. All on the receive thread; `accepting` is set by the
// store's threads. Bounds: AgentServer's batches under way; the table's.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/receive/agent_server.h"
#include "aggregator/store/store.h"
#include "common/wire/instant.h"

namespace l4::intake {

/// Bytes and lines of the accepted batches, since the start.
struct LedgerCounts {
  std::uint64_t lines = 0;
  std::uint64_t log_bytes = 0;   ///< bytes of logs, not of batches
  std::uint64_t lost_bytes = 0;  ///< part of log_bytes: wanted, but never read
};

class StoreLedger final : public receive::Ledger {
 public:
  /// Receives a batch that the journal has under that number; may wait.
  using Deliver = std::function<void(store::Seq, wire::Batch, TimeMs arrival, std::size_t bytes)>;

  /// `last`: number of the last record in `offsets`. `accepting`: whether the store accepts batches
  /// now.
  StoreLedger(store::Store& store, store::OffsetTable offsets, store::Seq last, Deliver deliver,
              std::function<TimeMs()> now, const std::atomic<bool>& accepting);

  receive::AgentRecord load(const std::string& agent) override;
  void apply(receive::Ticket ticket, wire::Batch batch,
             std::span<const std::byte> encoded) override;
  void release(const std::string& agent, const std::vector<std::uint64_t>& files) override;

  /// For tests: report_durable() waits until all accepted batches are durable, so that no result
  /// depends on the speed of a disk.
  void be_patient() { patient_ = true; }
  /// Reports durable and failed batches to the server; not from within its `step`.
  void report_durable(receive::AgentServer& server);

  /// Reads the bytes of `checkpoint` and returns the number of the last record in it; none if they
  /// are unusable.
  static std::optional<store::Seq> load_offsets(std::span<const std::byte> saved,
                                                store::OffsetTable& into);
  /// Passes the offsets to the store if they have changed; false if the store cannot accept them
  /// now.
  bool checkpoint(TimeMs now);
  /// Copies the offsets into the database, for people; the checkpoint is authoritative.
  Result<void> mirror();
  const store::OffsetTable& offsets() const { return offsets_; }
  std::uint64_t refused() const { return refused_; }
  const LedgerCounts& counts() const { return counts_; }
  std::size_t under_way() const { return under_way_.size(); }

 private:
  struct UnderWay {
    store::Seq seq;
    receive::Ticket ticket = 0;
    std::string agent;
  };
  void report_failed(receive::AgentServer& server, store::Seq durable);

  store::Store& store_;
  store::OffsetTable offsets_;
  Deliver deliver_;
  std::function<TimeMs()> now_;
  store::Seq last_, saved_;
  bool patient_ = false;
  bool changed_ = false;  ///< changed without a record: files released, agents expired
  std::deque<UnderWay> under_way_;
  std::map<std::string, store::Seq> taken_;                     ///< last batch under way, by agent
  std::map<std::string, std::vector<receive::Ticket>> failed_;  ///< by agent
  const std::atomic<bool>& accepting_;
  std::uint64_t refused_ = 0;
  LedgerCounts counts_;
};

}  // namespace l4::intake
