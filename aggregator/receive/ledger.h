// The interface through which AgentServer counts batches and learns which positions are durable.
//
// Implemented by StoreLedger; called by receive::AgentServer on its thread, from within `step`.
// Counts and positions must become durable together: the positions of a batch are its `coverage`.
// docs/WIRE.md, "Positions are the sequence".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/wire/batch.h"
#include "common/wire/control.h"

namespace l4::receive {

/// Identifies a batch between `apply` and `committed` or `failed`.
using Ticket = std::uint64_t;

/// The durable state of one agent.
struct AgentRecord {
  std::uint64_t incarnation = 0;    ///< the one that sent its last batch
  std::uint64_t last_sequence = 0;  ///< its last one in that incarnation
  std::vector<wire::Position> positions;
  bool adopts = false;  ///< files were evicted: an unknown file continues at the agent's offset
};

class Ledger {
 public:
  virtual ~Ledger() = default;

  /// Called when an agent that is not in memory says hello. Positions are kept until they are
  /// released, however old: a file whose position is forgotten would be counted twice.
  virtual AgentRecord load(const std::string& agent) = 0;
  /// Counts the batch, which begins exactly at the ledger's positions. `encoded` has its bytes,
  /// valid during the call. Later the ledger calls `AgentServer::committed(ticket)` or `failed` on
  /// the same thread.
  virtual void apply(Ticket ticket, wire::Batch batch, std::span<const std::byte> encoded) = 0;
  /// Forgets files that are gone from the node and committed to their end.
  virtual void release(const std::string& agent, const std::vector<std::uint64_t>& files) = 0;
};

}  // namespace l4::receive
