// The inside of AgentServer. Private to this room.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "aggregator/receive/agent_state.h"
#include "aggregator/receive/notices.h"

namespace l4::receive {

class AgentServer::State {
 public:
  State(ServerOptions options, wire::ServerPort& port, Ledger& ledger, Observer& observer,
        wire::Instant start);

  Millis step(wire::Instant now);
  void done(Ticket ticket, bool durable);
  wire::Sent send(AgentState& agent, wire::Control message);
  AgentState* connected(const std::string& agent);
  void refuse(const wire::Incoming& in, std::uint64_t session, wire::Refusal kind,
              wire::Refuse answer);
  void note_refusal(wire::Refusal kind, const std::string& address, const std::string& detail);
  void publish(AgentEvent::Kind kind, const std::string& agent, const std::string& address,
               const std::string& detail);
  void drop(AgentState& agent);

  const ServerOptions options_;
  wire::ServerPort& port_;
  Ledger& ledger_;
  Observer& observer_;
  Liveness liveness_;
  Notices notices_;
  ServerStats stats_;
  wire::Instant now_;
  std::map<std::string, AgentState> agents_;
  std::unordered_map<wire::PeerId, std::string> peers_;

 private:
  void receive(const wire::Incoming& in);
  void hello(const wire::Incoming& in, std::uint64_t session, const wire::Hello& hello);
  bool is_allowed(const wire::Incoming& in, std::uint64_t session, const wire::Hello& hello);
  bool name_is_free(const wire::Incoming& in, std::uint64_t session, const wire::Hello& hello);
  static void change_incarnation(AgentState& agent, std::uint64_t incarnation);
  void welcome(AgentState& agent);
  void handle(AgentState& agent, const wire::Incoming& in, const wire::Control& message);
  void heartbeat(AgentState& agent, const wire::Heartbeat& beat);
  void batch(AgentState& agent, const wire::Incoming& in, const wire::BatchFrame& frame);
  void apply(AgentState& agent, const wire::Incoming& in, const wire::BatchFrame& frame,
             wire::Batch batch);
  void advance(AgentState& agent);
  void heard(AgentState& agent);
  void note_backlog(AgentState& agent, std::uint64_t batches);
  void forget_idle();
  std::uint32_t window() const;

  std::unordered_map<Ticket, std::string> tickets_;
  Ticket tickets_made_ = 0;
  Millis pruned_{0};
};

}  // namespace l4::receive
