#include "tools/fleet/lossy_port.h"

#include <algorithm>
#include <utility>

namespace l4::fleet {

using wire::Bytes;
using wire::Sent;

LossyPort::LossyPort(std::unique_ptr<wire::ClientPort> port, const LinkTrouble& trouble,
                     const bool& cut, std::uint64_t seed)
    : port_(std::move(port)), trouble_(trouble), cut_(cut), random_(seed) {}

bool LossyPort::is_lost() {
  if (!cut_ && (trouble_.loss <= 0 || std::uniform_real_distribution<>()(random_) >= trouble_.loss))
    return false;
  ++counts_.lost;
  return true;
}

/// A random time to deliver a message; the caller keeps the order of the stream.
Millis LossyPort::due() {
  return now_ + Millis{std::uniform_int_distribution<std::int64_t>(
                    0, trouble_.delay_most.count())(random_)};
}

void LossyPort::plan_break() {
  breaks_at_ = Millis::max();
  if (trouble_.breaks_every <= Millis{0}) return;
  const double mean = static_cast<double>(trouble_.breaks_every.count());
  breaks_at_ =
      now_ + Millis{static_cast<std::int64_t>(std::exponential_distribution<>(1 / mean)(random_))};
}

void LossyPort::advance(Millis steady) {
  now_ = steady;
  if (waits_ && !cut_) connect();  // the system asks again and again
  if (connected_ && now_ >= breaks_at_) {
    disconnect();
    told_broken_ = false;
    ++counts_.broken;
  }
  while (!out_.empty() && out_.front().due <= now_) {
    port_->send(std::move(out_.front().message));
    out_.pop_front();
  }
}

Millis LossyPort::next_due() const {
  Millis next = connected_ ? breaks_at_ : Millis::max();
  if (!out_.empty()) next = std::min(next, out_.front().due);
  if (!in_.empty()) next = std::min(next, in_.front().due);
  return next;
}

void LossyPort::connect() {
  out_.clear();
  in_.clear();
  told_broken_ = true;
  waits_ = cut_;
  if (waits_) return port_->disconnect();
  connected_ = true;
  plan_break();
  port_->connect();
}

void LossyPort::disconnect() {
  out_.clear();
  in_.clear();
  connected_ = waits_ = false;
  port_->disconnect();
}

Sent LossyPort::send(Bytes message) {
  if (!connected_) return Sent::gone;
  if (is_lost()) return Sent::yes;
  if (trouble_.delay_most <= Millis{0}) return port_->send(std::move(message));
  if (out_.size() >= static_cast<std::size_t>(wire::kHighWaterMark)) return Sent::full;
  ++counts_.held_up;
  const Millis at = due();
  out_.push_back({out_.empty() ? at : std::max(at, out_.back().due), std::move(message)});
  return Sent::yes;
}

std::optional<Bytes> LossyPort::receive() {
  while (in_.size() < static_cast<std::size_t>(wire::kHighWaterMark)) {
    auto message = port_->receive();
    if (!message) break;
    if (is_lost()) continue;
    if (trouble_.delay_most <= Millis{0}) return message;
    ++counts_.held_up;
    const Millis at = due();
    in_.push_back({in_.empty() ? at : std::max(at, in_.back().due), std::move(*message)});
  }
  if (in_.empty() || in_.front().due > now_) return std::nullopt;
  Bytes message = std::move(in_.front().message);
  in_.pop_front();
  return message;
}

std::optional<wire::LinkNews> LossyPort::news() {
  if (!std::exchange(told_broken_, true))
    return wire::LinkNews{wire::LinkNews::Kind::lost, "the link broke"};
  return port_->news();
}

}  // namespace l4::fleet
