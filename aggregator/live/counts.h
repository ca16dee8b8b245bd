// Counts of the aggregator, summed over its threads.
//
// Flow: shards, intake, store, alerter -> Counts -> /metrics, `l4-fleet`. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "aggregator/alert/alerter.h"
#include "aggregator/collect/collect.h"
#include "aggregator/fetch/lines.h"
#include "aggregator/intake/store_ledger.h"
#include "aggregator/live/event_board.h"
#include "aggregator/receive/agent_server.h"
#include "aggregator/scoring/shard.h"
#include "aggregator/store/store.h"

namespace l4::live {

/// Figures of all agents together.
struct Fleet {
  std::uint64_t agents = 0, connected = 0, lost = 0;
  std::uint64_t batches_held = 0,
                bytes_held = 0;  ///< by connected agents, in their last heartbeats
  /// Connected agents, by step of shedding.
  std::array<std::uint64_t, wire::kSheddings> shedding{};
  Millis offset_max{0};   ///< largest offset of a connected agent's clock
  Millis silence_max{0};  ///< longest silence of a connected agent
};
Fleet sum_of(const std::vector<receive::AgentView>& agents, TimeMs now);

/// Everything that is counted, at one time; parts may be some milliseconds apart.
struct Counts {
  receive::ServerStats server;
  scoring::ShardStats shards;
  store::StoreStats store;
  alert::AlerterStats alerts;
  Fleet fleet;
  intake::LedgerCounts ledger;
  fetch::LinesCounts lines;
  EventCounts events;
  pool::PoolStats pool;
  collect::CollectCounts flows;
  std::uint64_t files = 0, under_way = 0, not_taken = 0;
  std::uint64_t faults = 0, faults_confirmed = 0;  ///< known ones
  std::uint64_t agents_max = 0, journal_bytes_max = 0, checkpoint_bytes_max = 0;
  bool blind = false, accepting = true;
  std::vector<scoring::JobRow> jobs;  ///< in memory
  TimeMs now{};                       ///< by the clock of the times in `jobs`
  bool whole = false;  ///< internal: this part has all figures but those of the shards
};

/// Adds the figures of a shard to those of others.
void add(scoring::ShardStats& sum, const scoring::ShardStats& part);

}  // namespace l4::live
