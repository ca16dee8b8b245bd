// The aggregator's end of the links: which agents are connected, which of their batches are
// counted, which agents are silent.
//
// Flow: ServerPort -> here -> Ledger (batches, exactly once) and Observer (agents). A pure state
// machine: it reads no clock and starts no thread. Its owner calls `step` when the port has
// messages and when the returned time is over, and `committed` when the ledger has made a batch
// durable, all on one thread. Bounds: `agents_max`, 8 batches in flight per agent, positions as in
// PositionTable. Every message of an agent is validated; a wrong one is refused, counted, and
// logged once (notices.h). docs/WIRE.md has the protocol.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aggregator/receive/ledger.h"
#include "aggregator/receive/liveness.h"
#include "aggregator/receive/observer.h"
#include "common/wire/instant.h"
#include "common/wire/port.h"

namespace l4::receive {

struct ServerOptions {
  std::uint64_t incarnation = 0;  ///< drawn at random at the start
  std::string software;
  std::uint64_t features = 0;
  std::uint16_t version_min = wire::kVersionMin, version_max = wire::kVersionMax;
  std::uint32_t window = 8;          ///< batches in flight per agent
  std::size_t in_flight_max = 8192;  ///< over all agents; beyond it the window is 1
  std::size_t agents_max = 20'000;
  std::size_t messages_per_step = 512;
  Millis heartbeat{3'000};
  Millis takeover_after{7'000};    ///< after this silence another address may use the agent's name
  Millis unread_most{10'000};      ///< an agent that reads no answers for this long is dropped
  Millis forget_after{3'600'000};  ///< after this absence an agent leaves memory, not the store
  LivenessOptions liveness;
};

struct ServerStats {
  std::array<std::uint64_t, wire::kRefusals> refused{};
  std::uint64_t messages = 0, bytes = 0, hellos = 0, welcomes = 0, heartbeats = 0;
  std::uint64_t batches_applied = 0, batches_seen = 0, batches_repeated = 0, batches_early = 0;
  std::uint64_t batches_committed = 0, batches_failed = 0, wants = 0, unknown_sessions = 0;
  std::uint64_t answers_full = 0;  ///< messages that an agent's full queue refused
};

/// One agent, for `/api/v1/agents`.
struct AgentView {
  std::string agent, address, software, boot_id;
  bool connected = false, lost = false, fleet_key = false;
  std::uint64_t incarnation = 0, files = 0, batches_in_flight = 0;
  std::uint64_t batches_held = 0, bytes_held = 0;  ///< as its last heartbeat says
  wire::Shedding shedding = wire::Shedding::nothing;
  TimeMs heard{};
  bool offset_known = false;
  Millis offset{0}, delay{0};      ///< its clock plus `offset` is the aggregator's clock
  std::vector<std::string> hints;  ///< what its sources miss, as it says itself
};

class AgentServer {
 public:
  AgentServer(ServerOptions options, wire::ServerPort& port, Ledger& ledger, Observer& observer,
              wire::Instant start);
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;
  ~AgentServer();

  /// Handles the received messages, at most `messages_per_step`, and sends due messages. Returns
  /// how long the owner may wait at most.
  Millis step(wire::Instant now);

  /// The ledger has made this batch durable.
  void committed(Ticket ticket);
  /// The ledger cannot store this batch: the agent sends it again.
  void failed(Ticket ticket);

  /// An agent from before a restart: it is lost if it does not reconnect.
  void expect(const std::string& agent);
  /// False if the agent is not connected or its queue is full.
  bool ask(const std::string& agent, wire::Ask question);
  /// Notifies all agents that the aggregator stops; they reconnect later.
  void stop();

  /// Without those whose key is revoked.
  std::vector<AgentView> agents() const;
  ServerStats stats() const;
  bool is_blind() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace l4::receive
