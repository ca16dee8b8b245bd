// The receive thread: receives the agents' messages, makes batches durable, and hands them to the
// shards.
// Flow: ServerPort -> AgentServer -> StoreLedger -> Shard. Events of agents go to all shards; those
// that only people can act upon (the aggregator is blind, a name is used twice) also become alerts.
// `step` is for the owning thread, or for a test; `wake`, `call`, `stepped` and `is_blind` are for
// any. The port outlives the intake. Bounds: AgentServer's; 1,024 waiting calls.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/fetch/lines_board.h"
#include "aggregator/intake/store_ledger.h"
#include "aggregator/receive/agent_server.h"
#include "aggregator/scoring/shard.h"
#include "common/base/bounded_queue.h"

namespace l4::intake {

class Intake final : public receive::Observer {
 public:
  using Call = std::function<void(Intake&)>;

  Intake(receive::ServerOptions options, wire::ServerPort& port, StoreLedger& ledger,
         std::vector<scoring::Shard*> shards, scoring::Services services, Millis checkpoint_every,
         std::function<std::optional<wire::PortNotice>()> port_notice = {},
         fetch::LinesOptions lines = {});

  /// Handles waiting messages, acknowledges durable batches, and waits for more, at most `most`.
  void step(Millis most);
  /// Steps until `stop` is called, then says goodbye to the agents.
  void run();
  void stop();
  void wake() { port_.wake(); }
  bool call(Call call);
  Millis stepped() const { return Millis{stepped_.load()}; }
  bool is_blind() const { return blind_; }

  receive::AgentServer& server() { return server_; }
  const StoreLedger& ledger() const { return ledger_; }

  void event(const receive::AgentEvent& event) override;
  void notice(const std::string& text) override { services_.warn(text); }
  void answered(const std::string& agent, const wire::Answer& answer) override {
    board_.answered(agent, answer, services_.now().steady);
  }
  /// See LinesBoard::ask.
  bool ask(fetch::LinesPlan plan, fetch::LinesThen then) {
    return board_.ask(server_, std::move(plan), std::move(then), services_.now().steady);
  }

 private:
  void mirror();
  void notify_people(const receive::AgentEvent& event);

  wire::ServerPort& port_;
  StoreLedger& ledger_;
  std::vector<scoring::Shard*> shards_;
  scoring::Services services_;
  Millis checkpoint_every_, saved_, mirrored_;
  BoundedQueue<Call> calls_;
  std::function<std::optional<wire::PortNotice>()> port_notice_;  ///< a line for the log
  std::atomic<std::int64_t> stepped_{0};
  std::atomic<bool> stopping_{false}, blind_{false};
  fetch::LinesBoard board_;
  receive::AgentServer server_;
};

}  // namespace l4::intake
