// Where batches go once they may be counted, and where it is written up to where files are counted.
//
// Implemented by the store and the job states; called by receive::AgentServer on its thread, from
// within `step`. Counts and positions must become durable together: the positions of a batch are
// its `coverage`. docs/WIRE.md, "Positions are the sequence".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/wire/batch.h"
#include "common/wire/control.h"

namespace l4::receive {

/// Names a batch between `apply` and the word that it is committed.
using Ticket = std::uint64_t;

/// What is durable of one agent.
struct AgentRecord {
  std::uint64_t incarnation = 0;    ///< of its last batch
  std::uint64_t last_sequence = 0;  ///< of that incarnation
  std::vector<wire::Position> positions;
  bool adopts = false;  ///< some files were let go: one that is not known goes on where it stands
};

class Ledger {
 public:
  virtual ~Ledger() = default;

  /// Asked when an agent says hello and is not in memory. Positions are kept until they are
  /// released, however old: a position that is forgotten is a file that is counted twice.
  virtual AgentRecord load(const std::string& agent) = 0;
  /// Counts the batch, which goes on exactly where the ledger stands. `encoded` are its bytes,
  /// valid during the call. Later, on the same thread, `AgentServer::committed(ticket)` or
  /// `failed`.
  virtual void apply(Ticket ticket, wire::Batch batch, std::span<const std::byte> encoded) = 0;
  /// These files are gone from the node and all of them is committed.
  virtual void release(const std::string& agent, const std::vector<std::uint64_t>& files) = 0;
};

}  // namespace l4::receive
