#include "agent/ship/session.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "agent/ship/fit.h"
#include "common/base/check.h"
#include "common/wire/codec/batch_codec.h"
#include "common/wire/codec/control_codec.h"

namespace l4::ship {
namespace {

using wire::Sent;

constexpr std::size_t kBatchBytesMax = wire::kWireMessageBytesMax - wire::kEnvelopeBytesMax;
constexpr std::size_t kReleasedKept = 65'536;
constexpr std::size_t kPingsKept = 16;
constexpr Millis kFullRetry{50}, kIdle{1'000}, kDiskRetry{10'000};

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

constexpr std::uint32_t kWindowMax = 8;
constexpr std::size_t kPositionsMax = 1'000'000;
constexpr Millis kHeartbeatMin{200}, kHeartbeatMax{60'000};
constexpr Millis kHopelessRetry{20'000};

enum class Fit : std::uint8_t { seen, next, neither };

/// Whether the coverage lies before the positions, or continues them; then `at` moves behind it.
Fit fit_of(const std::vector<wire::Coverage>& coverage,
           std::map<std::uint64_t, std::uint64_t>& at) {
  bool seen = false, next = false;
  for (const wire::Coverage& part : coverage) {
    std::uint64_t& here = at[part.file.key];
    if (part.bytes.from == part.bytes.to && part.bytes.from <= here) continue;
    if (part.bytes.to > here && part.bytes.from != here) return Fit::neither;
    (part.bytes.to <= here ? seen : next) = true;
    here = std::max(here, part.bytes.to);
  }
  if (seen && next) return Fit::neither;
  return seen ? Fit::seen : Fit::next;
}

}  // namespace

Session::Session(SessionOptions options, wire::ClientPort& port, Pipeline& pipeline)
    : options_(std::move(options)),
      port_(port),
      pipeline_(pipeline),
      queue_(options_.queue),
      backoff_(options_.backoff_first, options_.backoff_most, options_.seed),
      session_(options_.seed & 0xffff'ffff'0000'0000u) {}

Millis Session::step(wire::Instant now) {
  now_ = now;
  if (state_ == State::stopped) return kIdle;
  port_full_ = false;
  read_port();
  keep_going();
  return next_step();
}

void Session::read_port() {
  while (state_ != State::waiting) {
    if (auto message = port_.receive()) {
      receive(*message);
    } else if (const auto link = port_.news()) {
      news(*link);
    } else {
      return;
    }
  }
}

void Session::news(const wire::LinkNews& link) {
  using Kind = wire::LinkNews::Kind;
  if (link.kind == Kind::connected && state_ == State::connecting) {
    state_ = State::greeting;
    since_ = now_.steady;
    send_hello();
  } else if (link.kind == Kind::lost) {
    give_up("the aggregator cannot be reached: " + link.reason, Millis{0});
  } else if (link.kind == Kind::refused) {
    give_up("the aggregator refuses the connection: " + link.reason, options_.backoff_first);
  }
}

/// Acts on time alone: timeouts, retries and heartbeats.
void Session::keep_going() {
  if (!queue_.disk_error().empty() && now_.steady - disk_at_ >= kDiskRetry) {
    report("the spool cannot be written: " + queue_.disk_error());
    queue_.retry_disk();
    disk_at_ = now_.steady;
  }
  const Millis here = now_.steady - since_;
  switch (state_) {
    case State::waiting:
      if (now_.steady >= retry_at_) connect();
      break;
    case State::connecting:
      if (here >= connect_timeout()) give_up("no connection to the aggregator", Millis{0});
      break;
    case State::greeting:
    case State::fetching:
      if (here >= options_.greeting_timeout)
        give_up("the aggregator does not answer", Millis{0});
      else if (now_.steady - hello_at_ >= options_.hello_again)
        send_hello();
      break;
    case State::open:
      if (now_.steady - heard_at_ >= options_.silence_max) {
        give_up("the aggregator has fallen silent", Millis{0});
        break;
      }
      if (now_.steady - beat_at_ >= heartbeat_) beat();
      ship();
      break;
    case State::stopped:
      break;
  }
}

void Session::connect() {
  ++stats_.connects;
  ++session_;
  state_ = State::connecting;
  since_ = now_.steady;
  sent_ = acked_ = sent_most_ = 0;
  pings_.clear();
  positions_.clear();
  port_.connect();
}

void Session::give_up(const std::string& why, Millis at_least) {
  if (state_ == State::waiting) return;
  report(why);
  port_.disconnect();
  state_ = State::waiting;
  since_ = now_.steady;
  retry_at_ = now_.steady + std::max(at_least, backoff_.next());
}

/// Sends HELLO, or MorePositions while pages are being fetched.
void Session::send_hello() {
  hello_at_ = now_.steady;
  if (state_ == State::fetching) {
    send(wire::MorePositions{positions_.empty() ? 0 : positions_.back().file.key});
    return;
  }
  wire::Hello hello;
  hello.version_min = options_.version_min;
  hello.version_max = options_.version_max;
  hello.features = options_.features;
  hello.agent = options_.agent;
  hello.incarnation = options_.incarnation;
  hello.boot_id = options_.boot_id;
  hello.software = options_.software;
  hello.batches_held = queue_.size();
  hello.bytes_held = queue_.bytes();
  hello.files_held = committed_.size();
  send(hello);
}

Sent Session::send(wire::Control message) {
  const Sent sent = port_.send(wire::encode(wire::Envelope{session_, std::move(message)}));
  if (sent == Sent::full) port_full_ = true;
  return sent;
}

bool Session::has_room() const {
  return state_ != State::stopped && queue_.has_room(kBatchBytesMax / 4);
}

void Session::offer(wire::Batch batch) {
  ++stats_.batches_offered;
  batch.agent = options_.agent;
  batch.incarnation = options_.incarnation;
  if (shed(batch, pressure(), ShedFor::pressure, stats_.shed)) ++stats_.shed.batches;
  for (Fitted& fitted : fit(std::move(batch), kBatchBytesMax, sequence_ + 1, stats_.oversize)) {
    sequence_ = fitted.batch.sequence;
    queue_.push({std::move(fitted.batch.job),
                 fitted.batch.sequence,
                 std::move(fitted.batch.coverage),
                 0,
                 {},
                 false,
                 std::move(fitted.encoded)});
  }
}

/// Sends as many batches as the window and the port allow.
void Session::ship() {
  L4_CHECK(acked_ <= sent_, "{} batches are acknowledged of {} that were sent", acked_, sent_);
  while (!port_full_ && sent_ - acked_ < window_ && sent_ - acked_ < queue_.size()) {
    const auto at = static_cast<std::size_t>(sent_ - acked_);
    const auto bytes = queue_.load(at);
    if (!bytes) {
      start_over("a batch of the spool is damaged: " + bytes.error().text());
      return;
    }
    const Sent sent = send(wire::BatchFrame{sent_ + 1, *bytes});
    if (sent == Sent::gone) give_up("the connection is gone", Millis{0});
    if (sent != Sent::yes) return;
    ++sent_;
    stats_.bytes_sent += bytes->size();
    ++(sent_ <= sent_most_ ? stats_.batches_sent_again : stats_.batches_sent);
    sent_most_ = std::max(sent_most_, sent_);
  }
}

void Session::beat() {
  wire::Heartbeat beat;
  beat.number = ++pings_made_;
  beat.wall = now_.wall;
  beat.batches_sent = sent_;
  if (const auto estimate = clock_.estimate()) {
    beat.offset_known = true;
    beat.offset = estimate->offset;
    beat.delay = estimate->delay;
  }
  beat.batches_held = queue_.size();
  beat.bytes_held = queue_.bytes();
  beat.shedding = pressure();
  beat.hints = hints_;
  const std::size_t released = std::min(released_.size(), wire::kReleasedMax);
  beat.released.assign(released_.begin(),
                       released_.begin() + static_cast<std::ptrdiff_t>(released));
  if (send(std::move(beat)) != Sent::yes) return;
  beat_at_ = now_.steady;
  pings_.push_back({pings_made_, sent_, rewinds_, now_, released});
  if (pings_.size() > kPingsKept) pings_.pop_front();
}

void Session::release(std::uint64_t file_key) {
  committed_.erase(file_key);
  if (released_.size() < kReleasedKept) released_.push_back(file_key);
}

bool Session::answer(wire::Answer answer) {
  return state_ == State::open && send(std::move(answer)) == Sent::yes;
}

void Session::stop(const std::string& reason) {
  if (state_ == State::open) send(wire::Bye{reason});
  port_.disconnect();
  state_ = State::stopped;
}

void Session::report(const std::string& what, NoticeKind kind) {
  if (what != last_reported_ && pipeline_.notify(kind, what)) last_reported_ = what;
}

Millis Session::connect_timeout() const {
  const int failed = std::clamp(backoff_.tries() - 1, 0, 8);
  return std::min(options_.connect_timeout * (1 << failed), options_.connect_timeout_most);
}

Millis Session::next_step() const {
  if (port_full_) return kFullRetry;
  Millis wait = kIdle;
  if (state_ == State::waiting) wait = retry_at_ - now_.steady;
  if (state_ == State::open) wait = beat_at_ + heartbeat_ - now_.steady;
  return std::clamp(wait, Millis{0}, kIdle);
}

void Session::receive(const wire::Bytes& message) {
  const auto envelope = wire::decode_control(message);
  if (!envelope) {
    ++stats_.messages_malformed;
    report("a message of the aggregator cannot be read: " + envelope.error().text());
    return;
  }
  if (envelope->session != session_) {
    ++stats_.messages_stale;
    return;
  }
  heard_at_ = now_.steady;
  std::visit(
      Overloaded{[&](const wire::Welcome& welcome) { on(welcome); },
                 [&](const wire::PositionPage& page) { on(page); },
                 [&](const wire::HeartbeatReply& reply) { on(reply); },
                 [&](const wire::Ack& ack) { on(ack); }, [&](const wire::Want& want) { on(want); },
                 [&](const wire::Refuse& refuse) { on(refuse); },
                 [&](const wire::Ask& ask) {
                   if (state_ == State::open) pipeline_.question(ask);
                 },
                 [&](const auto&) { ++stats_.messages_unknown; }},
      envelope->message);
}

void Session::on(const wire::Welcome& welcome) {
  if (state_ != State::greeting) return;
  if (welcome.version < options_.version_min || welcome.version > options_.version_max) {
    give_up("the aggregator chose a protocol version that this agent does not know",
            kHopelessRetry);
    return;
  }
  features_ = welcome.features & options_.features;
  window_ = std::min(welcome.window, kWindowMax);
  heartbeat_ = std::clamp(Millis{welcome.heartbeat_ms}, kHeartbeatMin, kHeartbeatMax);
  last_sequence_ = welcome.last_sequence;
  positions_.clear();
  state_ = State::fetching;
  page_arrived(welcome.page);
}

void Session::on(wire::PositionPage page) {
  if (state_ == State::fetching) page_arrived(std::move(page));
}

void Session::page_arrived(wire::PositionPage page) {
  since_ = now_.steady;
  for (wire::Position& position : page.positions)
    if (positions_.empty() || positions_.back().file.key < position.file.key)
      positions_.push_back(std::move(position));
  if (page.more && positions_.size() < kPositionsMax)
    send_hello();
  else
    opened();
}

void Session::opened() {
  ++stats_.welcomes;
  state_ = State::open;
  since_ = now_.steady;
  backoff_.reset();
  report("connected to the aggregator",
         last_reported_.empty() ? NoticeKind::news : NoticeKind::recovery);
  // The first heartbeat is sent at once, so that the clocks are compared early.
  beat_at_ = now_.steady - heartbeat_;
  const bool fresh = !started_ && queue_.size() == 0;
  const bool knows = started_ || knows_positions();
  const bool fits = !fresh && !start_over_ && knows && fits_held();
  started_ = true;
  start_over_ = false;
  if (fits) {
    drop_committed();
  } else {
    if (!fresh) ++stats_.resets;
    queue_.clear();
    committed_.clear();
    pipeline_.read_from(positions_);
  }
  positions_ = {};
}

/// Whether this agent knows all files that the aggregator has positions of. The agent before this
/// one may have begun files without saving their positions; this agent may hold the same files from
/// their beginning, under other keys.
bool Session::knows_positions() const {
  return std::ranges::all_of(positions_, [&](const wire::Position& position) {
    return position.offset == 0 || pipeline_.knows(position.file.key) ||
           std::ranges::find(released_, position.file.key) != released_.end();
  });
}

/// Whether the batches that are held, and the committed positions, fit those of the aggregator.
bool Session::fits_held() {
  std::map<std::uint64_t, std::uint64_t> at;
  for (const wire::Position& position : positions_) at[position.file.key] = position.offset;
  for (const auto& [key, offset] : committed_) {
    const auto theirs = at.find(key);
    if ((theirs == at.end() ? 0 : theirs->second) < offset) return false;
  }
  for (std::size_t i = 0; i < queue_.size(); ++i)
    if (fit_of(queue_.at(i).coverage, at) == Fit::neither) return false;
  return true;
}

/// Drops the batches whose acknowledgement was lost with the connection.
void Session::drop_committed() {
  std::map<std::uint64_t, std::uint64_t> at;
  for (const wire::Position& position : positions_) at[position.file.key] = position.offset;
  while (queue_.size() > 0) {
    const Held& first = queue_.at(0);
    const bool counts = std::ranges::any_of(
        first.coverage, [](const wire::Coverage& part) { return part.bytes.from < part.bytes.to; });
    const bool done =
        counts ? fit_of(first.coverage, at) == Fit::seen : first.sequence <= last_sequence_;
    if (!done) return;
    strikes_ = false;
    const Held held = queue_.pop_front();
    ++stats_.batches_committed;
    for (const wire::Coverage& part : held.coverage) committed_[part.file.key] = part.bytes.to;
    pipeline_.committed(held.coverage);
  }
}

void Session::acknowledged(std::uint64_t number) {
  if (number <= acked_ || number > sent_most_) return;
  strikes_ = false;
  while (acked_ < number && queue_.size() > 0) {
    const Held held = queue_.pop_front();
    ++acked_;
    ++stats_.batches_committed;
    for (const wire::Coverage& part : held.coverage) committed_[part.file.key] = part.bytes.to;
    pipeline_.committed(held.coverage);
  }
  sent_ = std::max(sent_, acked_);
}

void Session::on(const wire::Ack& ack) {
  if (state_ != State::open) return;
  window_ = std::min(ack.window, kWindowMax);
  acknowledged(ack.number);
}

void Session::on(const wire::HeartbeatReply& reply) {
  if (state_ != State::open) return;
  window_ = std::min(reply.window, kWindowMax);
  acknowledged(reply.batches_committed);
  const auto ping = std::ranges::find(pings_, reply.number, &Ping::number);
  if (ping == pings_.end()) return;
  clock_.measured(ping->sent, reply.received, reply.replied, now_);
  const std::size_t released = std::min(ping->released, released_.size());
  released_.erase(released_.begin(), released_.begin() + static_cast<std::ptrdiff_t>(released));
  // Batches that were sent before the heartbeat and have not arrived when it is answered are lost.
  if (reply.batches_received < ping->batches_sent && ping->rewinds == rewinds_)
    rewind_to(reply.batches_received + 1);
  for (auto later = pings_.erase(pings_.begin(), std::next(ping)); later != pings_.end(); ++later)
    later->released -= std::min(later->released, released);
}

void Session::rewind_to(std::uint64_t number) {
  if (number <= acked_ || number > sent_) return;
  sent_ = number - 1;
  ++rewinds_;
}

void Session::on(const wire::Want& want) {
  if (state_ != State::open) return;
  if (want.files.empty()) {
    rewind_to(want.number);
    return;
  }
  if (want.number <= acked_ || want.number > sent_) return;
  // The positions do not fit: compare all of them. If they fit and WANT comes again, start over.
  ++stats_.batches_refused;
  start_over_ = strikes_;
  strikes_ = true;
  give_up("the aggregator counts from other positions; comparing", Millis{0});
}

void Session::start_over(const std::string& why) {
  start_over_ = true;
  give_up(why, Millis{0});
}

void Session::on(const wire::Refuse& refuse) {
  using Reason = wire::RefuseReason;
  const std::string text = "the aggregator refuses: " + refuse.text;
  const Millis later{refuse.retry_after_ms};
  switch (refuse.reason) {
    case Reason::say_hello:
      if (state_ == State::open || state_ == State::fetching) give_up(text, Millis{0});
      break;
    case Reason::malformed:
    case Reason::too_long:
      if (refuse.number != 0) refused_batch(refuse);
      report(text);
      break;
    case Reason::version:
    case Reason::wrong_name:
      give_up(text, std::max(later, kHopelessRetry));
      break;
    case Reason::name_taken:
    case Reason::busy:
    case Reason::stopping:
      give_up(text, std::max(later, options_.backoff_first));
      break;
  }
}

/// Replaces a batch that the aggregator refuses by one that accounts for the same bytes as lost.
void Session::refused_batch(const wire::Refuse& refuse) {
  if (state_ != State::open || refuse.number <= acked_ || refuse.number > sent_) return;
  const auto i = static_cast<std::size_t>(refuse.number - acked_ - 1);
  if (i >= queue_.size()) return;
  const Held& held = queue_.at(i);
  if (held.replaced) {
    give_up("the aggregator refuses a batch again: " + refuse.text, kHopelessRetry);
    return;
  }
  ++stats_.batches_refused;
  wire::Batch instead;
  instead.agent = options_.agent;
  instead.job = held.job;
  instead.incarnation = options_.incarnation;
  instead.sequence = held.sequence;
  instead.coverage = held.coverage;
  for (wire::Coverage& part : instead.coverage) part.bytes_lost = part.bytes.to - part.bytes.from;
  instead.warnings.push_back(
      {"refused", {}, "the aggregator could not read a batch: " + refuse.text, 0});
  queue_.replace(i, wire::encode(instead));
  rewind_to(refuse.number);
}

}  // namespace l4::ship
