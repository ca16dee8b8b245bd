// How AgentServer handles each message of an agent.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "aggregator/receive/agent_server_state.h"
#include "common/base/check.h"
#include "common/wire/codec/batch_codec.h"
#include "common/wire/codec/control_codec.h"

namespace l4::receive {
namespace {

using wire::Refusal;
using wire::RefuseReason;

constexpr std::size_t kPageBytesMax = wire::kWireMessageBytesMax - 8192;
constexpr std::uint32_t kComeBackMs = 5'000;
/// An agent that asks for its name again after this time is alive: an earlier second request may
/// have been in flight when the agent ended.
constexpr Millis kAsksAgain{1'000};
constexpr Millis kNameTwiceEvery{600'000};

}  // namespace

void AgentServer::State::receive(const wire::Incoming& in) {
  ++stats_.messages;
  stats_.bytes += in.message.size();
  if (in.message.size() > wire::kWireMessageBytesMax) {
    refuse(in, 0, Refusal::too_long,
           {RefuseReason::too_long, fmt::format("a message of {} bytes", in.message.size()), 0, 0});
    return;
  }
  const auto envelope = wire::decode_control(in.message);
  if (!envelope) {
    refuse(in, 0, Refusal::malformed, {RefuseReason::malformed, envelope.error().text(), 0, 0});
    return;
  }
  if (const auto* says_hello = std::get_if<wire::Hello>(&envelope->message)) {
    hello(in, envelope->session, *says_hello);
    return;
  }
  const auto peer = peers_.find(in.peer);
  AgentState* agent = peer == peers_.end() ? nullptr : &agents_.at(peer->second);
  if (agent == nullptr || agent->session != envelope->session || !agent->open) {
    ++stats_.unknown_sessions;
    if (agent != nullptr && !agent->open) return;  // the agent's WELCOME is due
    if (std::holds_alternative<wire::Bye>(envelope->message)) return;
    const wire::Refuse answer{RefuseReason::say_hello, "say hello first", 0, 0};
    port_.send(in.peer, wire::encode(wire::Envelope{envelope->session, answer}));
    return;
  }
  agent->spoke = true;
  heard(*agent);
  handle(*agent, in, envelope->message);
}

void AgentServer::State::heard(AgentState& agent) {
  agent.heard = now_;
  liveness_.heard(agent.name, now_.steady);
  const std::string contender = std::exchange(agent.contender, {});
  if (contender.empty()) return;
  if (agent.name_twice_at && now_.steady - *agent.name_twice_at < kNameTwiceEvery) return;
  agent.name_twice_at = now_.steady;
  publish(AgentEvent::Kind::name_twice, agent.name, agent.address,
          fmt::format("also asked for from {} while this one lives",
                      contender == agent.address ? contender + ", by another agent" : contender));
}

void AgentServer::State::note_backlog(AgentState& agent, std::uint64_t batches) {
  const bool behind = batches > options_.window;
  if (behind == agent.behind) return;
  agent.behind = behind;
  publish(behind ? AgentEvent::Kind::behind : AgentEvent::Kind::level, agent.name, agent.address,
          {});
}

void AgentServer::State::handle(AgentState& agent, const wire::Incoming& in,
                                const wire::Control& message) {
  if (const auto* frame = std::get_if<wire::BatchFrame>(&message)) {
    batch(agent, in, *frame);
  } else if (const auto* beat = std::get_if<wire::Heartbeat>(&message)) {
    heartbeat(agent, *beat);
  } else if (const auto* more = std::get_if<wire::MorePositions>(&message)) {
    send(agent, agent.positions.page(more->after, kPageBytesMax));
  } else if (const auto* answer = std::get_if<wire::Answer>(&message)) {
    observer_.answered(agent.name, *answer);
  } else if (const auto* bye = std::get_if<wire::Bye>(&message)) {
    publish(AgentEvent::Kind::left, agent.name, agent.address, bye->reason);
    liveness_.left(agent.name);
    drop(agent);
  } else {
    note_refusal(Refusal::unknown_kind, agent.address, agent.name);
  }
}

/// Checks the agent's key and version, and the bound of agents; refuses the hello otherwise.
bool AgentServer::State::is_allowed(const wire::Incoming& in, std::uint64_t session,
                                    const wire::Hello& hello) {
  if (in.key_name != wire::kFleetKeyName && in.key_name != hello.agent) {
    refuse(in, session, Refusal::wrong_name,
           {RefuseReason::wrong_name,
            fmt::format("the key of {} may not speak for {}", in.key_name, hello.agent), 0, 0});
    return false;
  }
  if (hello.version_max < options_.version_min || hello.version_min > options_.version_max) {
    refuse(in, session, Refusal::version,
           {RefuseReason::version,
            fmt::format("{} speaks protocol versions {} to {}, this aggregator {} to {}",
                        hello.agent, hello.version_min, hello.version_max, options_.version_min,
                        options_.version_max),
            0, 0});
    return false;
  }
  if (agents_.size() >= options_.agents_max && !agents_.contains(hello.agent)) {
    refuse(in, session, Refusal::too_many,
           {RefuseReason::busy, fmt::format("there are {} agents already", agents_.size()),
            kComeBackMs, 0});
    return false;
  }
  return true;
}

/// The agent that has a name keeps it while it is heard. The same agent may connect again, and a
/// new incarnation from the same address is a restart, so it gets the name. But if the incarnation
/// that the restart replaced asks again, two agents live at one address: the name stays with the
/// new one, or they would replace each other for ever.
bool AgentServer::State::name_is_free(const wire::Incoming& in, std::uint64_t session,
                                      const wire::Hello& hello) {
  const auto found = agents_.find(hello.agent);
  if (found == agents_.end() || found->second.peer.empty()) return true;
  AgentState& holder = found->second;
  const bool here = holder.address == in.address;
  const auto former = std::ranges::find(holder.formers, hello.incarnation, &Former::incarnation);
  const bool comes_back = here && holder.spoke && former != holder.formers.end();
  const bool same = holder.peer == in.peer || (here && !comes_back) ||
                    (holder.incarnation == hello.incarnation && hello.incarnation != 0);
  if (same || now_.steady - holder.heard.steady >= options_.takeover_after) return true;
  if (!comes_back || (former->refused && now_.steady - *former->refused >= kAsksAgain))
    holder.contender = in.address;
  if (comes_back && !former->refused) former->refused = now_.steady;
  refuse(in, session, Refusal::name_taken,
         {RefuseReason::name_taken,
          fmt::format("{} is connected from {}", hello.agent, holder.address), kComeBackMs, 0});
  return false;
}

/// Notes that another incarnation has the name now.
void AgentServer::State::change_incarnation(AgentState& agent, std::uint64_t incarnation) {
  std::erase_if(agent.formers, [&](const Former& one) { return one.incarnation == incarnation; });
  if (agent.incarnation != 0) agent.formers.push_back({agent.incarnation});
  if (agent.formers.size() > AgentState::kFormersMax) agent.formers.pop_front();
}

void AgentServer::State::hello(const wire::Incoming& in, std::uint64_t session,
                               const wire::Hello& hello) {
  ++stats_.hellos;
  if (!is_allowed(in, session, hello) || !name_is_free(in, session, hello)) return;
  // One connection is one agent: a second name on it takes the place of the first.
  if (const auto other = peers_.find(in.peer);
      other != peers_.end() && other->second != hello.agent)
    drop(agents_.at(other->second));
  AgentState& agent = agents_[hello.agent];
  agent.name = hello.agent;
  const bool again =
      agent.peer == in.peer && agent.session == session && agent.incarnation == hello.incarnation;
  if (!again && agent.peer == in.peer && agent.incarnation == hello.incarnation &&
      session < agent.session)
    return;     // a later hello has overtaken this one
  if (again) {  // the WELCOME was lost, or this is a copy
    if (agent.open && agent.received == 0) welcome(agent);
    return;
  }
  if (!agent.peer.empty()) drop(agent);
  if (!agent.loaded) {
    const AgentRecord record = ledger_.load(agent.name);
    agent.positions.load(record.positions, record.adopts);
    agent.incarnation = record.incarnation;
    agent.sequence_applied = agent.sequence_committed = record.last_sequence;
    agent.loaded = true;
  }
  if (agent.incarnation != hello.incarnation) {
    agent.sequence_applied = agent.sequence_committed = 0;
    change_incarnation(agent, hello.incarnation);
  }
  agent.peer = in.peer;
  agent.address = in.address;
  agent.fleet_key = in.key_name == wire::kFleetKeyName;
  agent.session = session;
  agent.incarnation = hello.incarnation;
  agent.boot_id = hello.boot_id;
  agent.software = hello.software;
  agent.version = std::min(hello.version_max, options_.version_max);
  agent.features = hello.features & options_.features;
  agent.received = agent.committed = 0;
  agent.gap_wanted = agent.spoke = false;
  agent.contender.clear();
  peers_[in.peer] = agent.name;
  heard(agent);
  publish(AgentEvent::Kind::hello, agent.name, agent.address, agent.software);
  note_backlog(agent, hello.batches_held);
  agent.welcome_due = true;
  if (agent.in_flight.empty()) welcome(agent);
}

void AgentServer::State::welcome(AgentState& agent) {
  wire::Welcome welcome;
  welcome.version = agent.version;
  welcome.features = agent.features;
  welcome.incarnation = options_.incarnation;
  welcome.software = options_.software;
  welcome.window = window();
  welcome.heartbeat_ms = static_cast<std::uint32_t>(options_.heartbeat.count());
  welcome.message_bytes_max = wire::kWireMessageBytesMax;
  welcome.last_sequence = agent.sequence_committed;
  welcome.page = agent.positions.page(0, kPageBytesMax);
  agent.welcome_due = false;
  agent.open = true;
  ++stats_.welcomes;
  send(agent, std::move(welcome));
}

std::uint32_t AgentServer::State::window() const {
  return tickets_.size() < options_.in_flight_max ? options_.window : 1;
}

void AgentServer::State::heartbeat(AgentState& agent, const wire::Heartbeat& beat) {
  ++stats_.heartbeats;
  if (beat.number > agent.last_beat.number || beat.number == 1) agent.last_beat = beat;
  agent.last_beat.released.clear();
  note_backlog(agent, beat.batches_held);
  if (const auto released = agent.positions.release(beat.released); !released.empty())
    ledger_.release(agent.name, released);
  send(agent, wire::HeartbeatReply{beat.number, now_.wall, now_.wall, agent.received,
                                   agent.committed, window()});
}

/// Accepts batches in the order of their numbers; positions decide whether a batch counts.
void AgentServer::State::batch(AgentState& agent, const wire::Incoming& in,
                               const wire::BatchFrame& frame) {
  if (frame.number <= agent.received) {
    ++stats_.batches_repeated;
    if (frame.number <= agent.committed) send(agent, wire::Ack{agent.committed, window()});
    return;
  }
  if (frame.number > agent.received + 1) {
    ++stats_.batches_early;
    if (agent.gap_wanted) return;
    agent.gap_wanted = true;
    ++stats_.wants;
    send(agent, wire::Want{agent.received + 1, {}});
    return;
  }
  if (agent.in_flight.size() >= options_.window) {
    note_refusal(Refusal::over_window, agent.address, agent.name);
    return;
  }
  auto decoded = wire::decode(frame.body);
  std::string wrong = decoded ? std::string() : decoded.error().text();
  if (decoded && (decoded->agent != agent.name || decoded->incarnation != agent.incarnation))
    wrong = "the batch is of another agent";
  if (decoded && std::ranges::any_of(decoded->coverage, [](const wire::Coverage& part) {
        return part.file.key == 0 || part.path.size() > wire::kPathBytesMax;
      }))
    wrong = "coverage: no file key, or a path that is too long";
  if (!wrong.empty()) {
    refuse(in, agent.session, Refusal::malformed,
           {RefuseReason::malformed, wrong, 0, frame.number});
    return;
  }
  apply(agent, in, frame, std::move(*decoded));
}

void AgentServer::State::apply(AgentState& agent, const wire::Incoming& in,
                               const wire::BatchFrame& frame, wire::Batch batch) {
  using Decision = PositionTable::Decision;
  Decision decision = agent.positions.check(batch.coverage);
  if (decision == Decision::nothing)
    decision = batch.sequence <= agent.sequence_applied ? Decision::seen : Decision::apply;
  if (decision == Decision::too_many) {
    refuse(in, agent.session, Refusal::malformed,
           {RefuseReason::busy, "more files than are kept of one agent", kComeBackMs, 0});
    return;
  }
  if (decision == Decision::gap) {
    ++stats_.wants;
    send(agent, wire::Want{frame.number, agent.positions.wanted(batch.coverage)});
    return;
  }
  agent.received = frame.number;
  agent.gap_wanted = false;
  InFlight flight{
      0, agent.session, frame.number, agent.incarnation, batch.sequence, batch.coverage, true};
  if (decision == Decision::seen) {
    ++stats_.batches_seen;
    agent.in_flight.push_back(std::move(flight));
    advance(agent);
    return;
  }
  ++stats_.batches_applied;
  agent.positions.apply(batch.coverage);
  agent.sequence_applied = std::max(agent.sequence_applied, batch.sequence);
  flight.done = false;
  flight.ticket = ++tickets_made_;
  tickets_[flight.ticket] = agent.name;
  agent.in_flight.push_back(std::move(flight));
  ledger_.apply(tickets_made_, std::move(batch), frame.body);
}

void AgentServer::State::done(Ticket ticket, bool durable) {
  const auto named = tickets_.find(ticket);
  if (named == tickets_.end()) return;
  const auto known = agents_.find(named->second);
  L4_CHECK(known != agents_.end(), "ticket {} belongs to {}, which is unknown", ticket,
           named->second);
  AgentState& agent = known->second;
  tickets_.erase(named);
  const auto flight = std::ranges::find(agent.in_flight, ticket, &InFlight::ticket);
  if (flight == agent.in_flight.end()) return;
  if (durable) {
    flight->done = true;
    ++stats_.batches_committed;
    advance(agent);
    return;
  }
  // The agent continues from its durable positions; batches that were only applied are sent again.
  ++stats_.batches_failed;
  for (const InFlight& lost : agent.in_flight) tickets_.erase(lost.ticket);
  agent.in_flight.clear();
  agent.loaded = false;
  if (agent.peer.empty()) return;
  send(agent, wire::Refuse{RefuseReason::say_hello, "a batch could not be stored", 0, 0});
  if (!agent.peer.empty()) drop(agent);
}

/// Acknowledges the batches up to the first one that is not committed.
void AgentServer::State::advance(AgentState& agent) {
  const std::uint64_t before = agent.committed;
  while (!agent.in_flight.empty() && agent.in_flight.front().done) {
    const InFlight& first = agent.in_flight.front();
    agent.positions.commit(first.coverage);
    if (first.incarnation == agent.incarnation)
      agent.sequence_committed = std::max(agent.sequence_committed, first.sequence);
    if (first.session == agent.session) agent.committed = std::max(agent.committed, first.number);
    agent.in_flight.pop_front();
  }
  if (agent.peer.empty()) return;
  if (agent.welcome_due && agent.in_flight.empty())
    welcome(agent);
  else if (agent.open && agent.committed > before)
    send(agent, wire::Ack{agent.committed, window()});
}

}  // namespace l4::receive
