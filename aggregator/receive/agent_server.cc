#include "aggregator/receive/agent_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/receive/agent_server_state.h"
#include "common/wire/codec/control_codec.h"

namespace l4::receive {
namespace {

constexpr Millis kIdle{250}, kPruneEvery{60'000};

}  // namespace

AgentServer::State::State(ServerOptions options, wire::ServerPort& port, Ledger& ledger,
                          Observer& observer, wire::Instant start)
    : options_(std::move(options)),
      port_(port),
      ledger_(ledger),
      observer_(observer),
      liveness_(options_.liveness, start.steady),
      now_(start),
      pruned_(start.steady) {}

Millis AgentServer::State::step(wire::Instant now) {
  now_ = now;
  std::size_t taken = 0;
  for (; taken < options_.messages_per_step; ++taken) {
    const auto in = port_.receive();
    if (!in) break;
    receive(*in);
  }
  while (const auto refused = port_.refused())
    note_refusal(refused->kind, refused->address, refused->detail);
  // An agent with messages in the queue is not silent, so liveness is judged later.
  if (taken == options_.messages_per_step) return Millis{0};
  for (const Liveness::Change& change : liveness_.step(now.steady)) {
    using Kind = Liveness::Change::Kind;
    const auto found = agents_.find(change.agent);
    const std::string address = found != agents_.end() ? found->second.address : std::string();
    const std::string silent = "silent for " + to_human(change.silent);
    const std::string count = fmt::format("{} of {} agents", change.overdue, change.living);
    if (change.kind == Kind::lost || change.kind == Kind::away)
      observer_.event({change.kind == Kind::lost ? AgentEvent::Kind::lost : AgentEvent::Kind::away,
                       change.agent, address, silent, now.wall, now.wall - change.silent});
    if (change.kind == Kind::back) publish(AgentEvent::Kind::back, change.agent, address, silent);
    if (change.kind == Kind::blind)
      observer_.event({AgentEvent::Kind::blind,
                       {},
                       {},
                       count + " fell silent at once",
                       now.wall,
                       now.wall - change.silent});
    if (change.kind == Kind::sighted)
      publish(AgentEvent::Kind::sighted, {}, {}, count + " are silent");
  }
  if (now.steady - pruned_ >= kPruneEvery) forget_idle();
  return kIdle;
}

/// Absent agents leave memory; their committed positions stay in the ledger.
void AgentServer::State::forget_idle() {
  pruned_ = now_.steady;
  std::erase_if(agents_, [&](const auto& one) {
    const AgentState& agent = one.second;
    return agent.peer.empty() && agent.in_flight.empty() &&
           now_.steady - agent.heard.steady >= options_.forget_after;
  });
}

AgentState* AgentServer::State::connected(const std::string& agent) {
  const auto found = agents_.find(agent);
  if (found == agents_.end() || found->second.peer.empty() || !found->second.open) return nullptr;
  return &found->second;
}

wire::Sent AgentServer::State::send(AgentState& agent, wire::Control message) {
  const wire::Sent sent =
      port_.send(agent.peer, wire::encode(wire::Envelope{agent.session, std::move(message)}));
  if (sent == wire::Sent::yes) agent.unread_since = Millis{-1};
  if (sent == wire::Sent::gone) drop(agent);
  if (sent != wire::Sent::full) return sent;
  ++stats_.answers_full;
  if (agent.unread_since < Millis{0}) agent.unread_since = now_.steady;
  if (now_.steady - agent.unread_since >= options_.unread_most) {
    note_refusal(wire::Refusal::never_reads, agent.address, agent.name);
    drop(agent);
  }
  return sent;
}

/// Ends the connection; batches in flight are still committed, and the agent may reconnect.
void AgentServer::State::drop(AgentState& agent) {
  peers_.erase(agent.peer);
  agent.peer.clear();
  agent.open = agent.welcome_due = false;
  agent.unread_since = Millis{-1};
}

void AgentServer::State::refuse(const wire::Incoming& in, std::uint64_t session, wire::Refusal kind,
                                wire::Refuse answer) {
  note_refusal(kind, in.address, answer.text);
  port_.send(in.peer, wire::encode(wire::Envelope{session, std::move(answer)}));
}

void AgentServer::State::note_refusal(wire::Refusal kind, const std::string& address,
                                      const std::string& detail) {
  if (const auto line = notices_.note({kind, address, detail}, now_.steady))
    observer_.notice(*line);
}

void AgentServer::State::publish(AgentEvent::Kind kind, const std::string& agent,
                                 const std::string& address, const std::string& detail) {
  observer_.event({kind, agent, address, detail, now_.wall, {}});
}

AgentServer::AgentServer(ServerOptions options, wire::ServerPort& port, Ledger& ledger,
                         Observer& observer, wire::Instant start)
    : state_(std::make_unique<State>(std::move(options), port, ledger, observer, start)) {}
AgentServer::~AgentServer() = default;

Millis AgentServer::step(wire::Instant now) {
  return state_->step(now);
}
void AgentServer::committed(Ticket ticket) {
  state_->done(ticket, true);
}
void AgentServer::failed(Ticket ticket) {
  state_->done(ticket, false);
}
void AgentServer::expect(const std::string& agent) {
  state_->liveness_.expect(agent);
}
bool AgentServer::is_blind() const {
  return state_->liveness_.is_blind();
}

bool AgentServer::ask(const std::string& agent, wire::Ask question) {
  AgentState* known = state_->connected(agent);
  return known != nullptr && state_->send(*known, std::move(question)) == wire::Sent::yes;
}

void AgentServer::stop() {
  for (auto& [name, agent] : state_->agents_)
    if (!agent.peer.empty())
      state_->send(agent, wire::Refuse{wire::RefuseReason::stopping, "the aggregator stops", 0, 0});
}

ServerStats AgentServer::stats() const {
  ServerStats stats = state_->stats_;
  stats.refused = state_->notices_.counts();
  return stats;
}

std::vector<AgentView> AgentServer::agents() const {
  std::vector<AgentView> views;
  views.reserve(state_->agents_.size());
  for (const auto& [name, agent] : state_->agents_) {
    if (!agent.fleet_key && !state_->port_.admits(name)) continue;
    AgentView view;
    view.agent = name;
    view.address = agent.address;
    view.software = agent.software;
    view.boot_id = agent.boot_id;
    view.connected = agent.open;
    view.lost = state_->liveness_.is_lost(name);
    view.fleet_key = agent.fleet_key;
    view.incarnation = agent.incarnation;
    view.files = agent.positions.size();
    view.batches_in_flight = agent.in_flight.size();
    view.batches_held = agent.last_beat.batches_held;
    view.bytes_held = agent.last_beat.bytes_held;
    view.shedding = agent.last_beat.shedding;
    view.hints = agent.last_beat.hints;
    view.heard = agent.heard.wall;
    view.offset_known = agent.last_beat.offset_known;
    view.offset = agent.last_beat.offset;
    view.delay = agent.last_beat.delay;
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace l4::receive
