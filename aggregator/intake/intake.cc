#include "aggregator/intake/intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregator/past/note.h"

namespace l4::intake {
namespace {

constexpr std::size_t kCallsMax = 1024;
constexpr Millis kSaveAgain{1'000}, kMirrorEvery{300'000};

}  // namespace

Intake::Intake(receive::ServerOptions options, wire::ServerPort& port, StoreLedger& ledger,
               std::vector<scoring::Shard*> shards, scoring::Services services,
               Millis checkpoint_every,
               std::function<std::optional<wire::PortNotice>()> port_notice,
               fetch::LinesOptions lines)
    : port_(port),
      ledger_(ledger),
      shards_(std::move(shards)),
      services_(std::move(services)),
      checkpoint_every_(checkpoint_every),
      saved_(services_.now().steady),
      mirrored_(saved_),
      calls_(kCallsMax),
      port_notice_(std::move(port_notice)),
      board_(lines),
      server_(std::move(options), port, ledger, *this, services_.now()) {
  for (const std::string& agent : ledger_.offsets().agents()) server_.expect(agent);
}

void Intake::step(Millis most) {
  const wire::Instant now = services_.now();
  stepped_ = now.steady.count();
  const Millis may_wait = server_.step(now);
  ledger_.report_durable(server_);
  blind_ = server_.is_blind();
  if (port_notice_)
    if (const auto notice = port_notice_())
      (notice->trouble ? services_.warn : services_.say)(notice->text);
  for (Call& call : calls_.drain(Millis{0})) call(*this);
  board_.step(now.steady);
  if (now.steady - saved_ >= checkpoint_every_)
    saved_ =
        ledger_.checkpoint(now.wall) ? now.steady : now.steady - checkpoint_every_ + kSaveAgain;
  if (now.steady - mirrored_ >= kMirrorEvery) {
    mirrored_ = now.steady;
    mirror();
  }
  const Millis wait = std::min(may_wait, most);
  if (wait > Millis{0}) port_.wait(wait);
}

void Intake::mirror() {
  if (const auto done = ledger_.mirror(); !done)
    services_.warn("the offsets were not copied into the database: " + done.error().text());
}

void Intake::run() {
  constexpr Millis kWaitMost{250};
  while (!stopping_) step(kWaitMost);
  server_.stop();
  mirror();
}

void Intake::stop() {
  stopping_ = true;
  port_.wake();
}

bool Intake::call(Call call) {
  if (!calls_.try_push(std::move(call))) return false;
  port_.wake();
  return true;
}

void Intake::event(const receive::AgentEvent& event) {
  using Kind = receive::AgentEvent::Kind;
  notify_people(event);
  if (event.kind == Kind::hello || event.kind == Kind::left || event.kind == Kind::lost)
    board_.gone(event.agent, services_.now().steady);
  const bool is_for_jobs =
      event.kind == Kind::hello || event.kind == Kind::left || event.kind == Kind::lost ||
      event.kind == Kind::back || event.kind == Kind::behind || event.kind == Kind::level ||
      event.kind == Kind::blind || event.kind == Kind::sighted || event.kind == Kind::away;
  if (!is_for_jobs) return;
  // If the journal refuses the event, reports of the past lack it.
  const auto noted =
      services_.store.note(past::encode({event, event.at}).bytes(), services_.now().wall);
  for (scoring::Shard* shard : shards_) shard->notify(event, noted.value_or(store::Seq{}));
}

void Intake::notify_people(const receive::AgentEvent& event) {
  using Kind = receive::AgentEvent::Kind;
  alert::Alert alert;
  alert.at = event.at;
  switch (event.kind) {
    case Kind::hello:
      return services_.say(
          fmt::format("agent {} connected from {} ({})", event.agent, event.address, event.detail));
    case Kind::left:
      return services_.say(fmt::format("agent {} was stopped: {}", event.agent, event.detail));
    case Kind::lost:
      return services_.warn(fmt::format("agent {} is lost: {}", event.agent, event.detail));
    case Kind::back:
      return services_.say(fmt::format("agent {} is back: {}", event.agent, event.detail));
    case Kind::behind:
    case Kind::level:
    case Kind::away:
      return;
    case Kind::blind:
      alert.kind = alert::Kind::blind;
      alert.summary = "the aggregator is blind: " + event.detail +
                      "; nothing is said of nodes until most are heard again";
      break;
    case Kind::sighted:
      alert.kind = alert::Kind::sighted;
      alert.summary = "the aggregator sees again: " + event.detail;
      break;
    case Kind::name_twice:
      alert.kind = alert::Kind::name_twice;
      alert.summary = "agent " + event.agent + " at " + event.address + ": " + event.detail;
      alert.nodes = {event.agent};
      break;
  }
  static_cast<void>(services_.alert(alert, nullptr));
}

}  // namespace l4::intake
