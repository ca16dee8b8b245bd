#include "agent/ship/session.h"

#include <algorithm>
#include <utility>

#include "agent/ship/fit.h"
#include "common/wire/control_codec.h"

namespace l4::ship {
namespace {

using wire::Sent;

constexpr std::size_t kBatchBytesMax = wire::kWireMessageBytesMax - wire::kEnvelopeBytesMax;
constexpr std::size_t kReleasedKept = 65'536;
constexpr std::size_t kPingsKept = 16;
constexpr Millis kFullRetry{50}, kIdle{1'000}, kDiskRetry{10'000};

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
    say_hello();
  } else if (link.kind == Kind::lost) {
    give_up("the aggregator cannot be reached: " + link.reason, Millis{0});
  } else if (link.kind == Kind::refused) {
    give_up("the aggregator refuses the connection: " + link.reason, options_.backoff_first);
  }
}

/// What follows from time alone.
void Session::keep_going() {
  if (!queue_.disk_error().empty() && now_.steady - disk_at_ >= kDiskRetry) {
    said("the spool cannot be written: " + queue_.disk_error());
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
        say_hello();
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
  said(why);
  port_.disconnect();
  state_ = State::waiting;
  since_ = now_.steady;
  retry_at_ = now_.steady + std::max(at_least, backoff_.next());
}

/// HELLO, or while pages are being fetched the question for the next one.
void Session::say_hello() {
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

/// As many as the window and the port allow.
void Session::ship() {
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

void Session::said(const std::string& what, Saying kind) {
  if (what != last_said_ && pipeline_.said(kind, what)) last_said_ = what;
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

}  // namespace l4::ship
