// Makes batches durable and hands them on: the one place where a batch becomes counted.
//
// Flow: receive::AgentServer, whose PositionTable says that a batch goes on where its files stand,
// -> apply(): journal, offsets, the job's shard -> settle(): what has become durable is told to the
// server, which acknowledges it. OffsetTable is what survives; a PositionTable is filled from it
// when an agent comes. If the store takes nothing (disk full), the batches stay with the agents:
// theirs are told to have failed once the store takes again and all that it took of them is
// durable. All on the receive thread; `accepting` is set by the store's threads. Bounds:
// AgentServer's batches under way; the table's.
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
  std::uint64_t log_bytes = 0;   ///< of logs, not of batches
  std::uint64_t lost_bytes = 0;  ///< of those: wanted, and never read
};

class StoreLedger final : public receive::Ledger {
 public:
  /// Takes a batch that is in the journal under that number; may wait.
  using Deliver = std::function<void(store::Seq, wire::Batch, TimeMs arrival, std::size_t bytes)>;

  /// `last`: of the records in `offsets`. `accepting`: whether the store takes batches now.
  StoreLedger(store::Store& store, store::OffsetTable offsets, store::Seq last, Deliver deliver,
              std::function<TimeMs()> now, const std::atomic<bool>& accepting);

  receive::AgentRecord load(const std::string& agent) override;
  void apply(receive::Ticket ticket, wire::Batch batch,
             std::span<const std::byte> encoded) override;
  void release(const std::string& agent, const std::vector<std::uint64_t>& files) override;

  /// For tests: settle() waits until all that was taken is durable, so that nothing depends on how
  /// fast a disk is.
  void be_patient() { patient_ = true; }
  /// Reports durable and failed batches to the server; not from within its `step`.
  void settle(receive::AgentServer& server);

  /// Reads the bytes of `checkpoint` and returns the number of the last record in it; none if they
  /// are unusable.
  static std::optional<store::Seq> load_offsets(std::span<const std::byte> saved,
                                                store::OffsetTable& into);
  /// Gives the offsets to the store if something has changed; false if it does not take them now.
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
  void settle_failed(receive::AgentServer& server, store::Seq durable);

  store::Store& store_;
  store::OffsetTable offsets_;
  Deliver deliver_;
  std::function<TimeMs()> now_;
  store::Seq last_, saved_;
  bool patient_ = false;
  bool changed_ = false;  ///< without a record: released, expired
  std::deque<UnderWay> under_way_;
  std::map<std::string, store::Seq> taken_;                     ///< last one under way, by agent
  std::map<std::string, std::vector<receive::Ticket>> failed_;  ///< by agent
  const std::atomic<bool>& accepting_;
  std::uint64_t refused_ = 0;
  LedgerCounts counts_;
};

}  // namespace l4::intake
