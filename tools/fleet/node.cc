#include "tools/fleet/node.h"

#include <algorithm>
#include <array>
#include <utility>

namespace l4::fleet {
namespace {

void add(LossyPort::Counts& sum, const LossyPort::Counts& part) {
  sum.lost += part.lost;
  sum.held_up += part.held_up;
  sum.broken += part.broken;
}

}  // namespace

void add(ship::SessionStats& sum, const ship::SessionStats& part) {
  sum.connects += part.connects;
  sum.welcomes += part.welcomes;
  sum.resets += part.resets;
  sum.batches_offered += part.batches_offered;
  sum.batches_sent += part.batches_sent;
  sum.batches_sent_again += part.batches_sent_again;
  sum.batches_committed += part.batches_committed;
  sum.batches_refused += part.batches_refused;
  sum.bytes_sent += part.bytes_sent;
  sum.messages_malformed += part.messages_malformed;
}

Node::Node(PlannedNode planned, wire::Instant begin, Millis phase, MakePort make_port,
           std::uint64_t seed)
    : planned_(std::move(planned)),
      begin_(begin),
      phase_(phase),
      make_port_(std::move(make_port)),
      seed_(seed) {
  begin_life();
}

void Node::begin_life() {
  ++lives_;
  ship::SessionOptions options;
  options.agent = planned_.name;
  options.boot_id = planned_.name + "-boot";
  options.software = "l4-fleet";
  options.incarnation = seed_ * 1'000 + lives_;
  options.seed = (seed_ + lives_) * 0x9e3779b97f4a7c15ULL;
  shipped_ = {};
  positions_known_ = false;
  port_ = make_port_(options.seed);
  session_ = std::make_unique<ship::Session>(options, *port_, *this);
}

void Node::end_life() {
  add(past_, session_->stats());
  add(past_link_, port_->counts());
  session_.reset();
  port_.reset();
}

Millis Node::step(wire::Instant now, std::size_t batches) {
  const Millis age = now.steady - begin_.steady - phase_;
  const std::int64_t second = age < Millis{0} ? -1 : age.count() / 1000;
  const Millis next_second = begin_.steady + phase_ + Millis{(second + 1) * 1000};
  const bool away = planned_.plan->is_away(planned_.node, std::max<std::int64_t>(second, 0));
  if (away && session_) end_life();
  if (away) return next_second;
  if (!session_) begin_life();
  port_->advance(now.steady);
  Millis wait = session_->step(now);
  bool offered = false;
  while (batches > 0 && positions_known_ && shipped_.next <= second && session_->has_room()) {
    auto batch = next_batch(planned_, begin_.wall, shipped_);
    if (!batch) continue;
    session_->offer(std::move(*batch));
    offered = true;
    --batches;
  }
  if (offered) wait = session_->step(now);
  if (batches == 0) wait = Millis{0};
  return std::min({next_second, now.steady + wait, port_->next_due()});
}

void Node::stop(const std::string& reason) {
  if (session_) session_->stop(reason);
}

std::string_view Node::state() const {
  constexpr std::array<std::string_view, 6> kNames{"waiting",  "connecting", "greeting",
                                                   "fetching", "open",       "stopped"};
  return session_ ? kNames.at(static_cast<std::size_t>(session_->state())) : "away";
}

ship::SessionStats Node::stats() const {
  ship::SessionStats sum = past_;
  if (session_) add(sum, session_->stats());
  return sum;
}

LossyPort::Counts Node::link() const {
  LossyPort::Counts sum = past_link_;
  if (port_) add(sum, port_->counts());
  return sum;
}

void Node::read_from(const std::vector<wire::Position>& committed) {
  fleet::read_from(planned_, committed, shipped_);
  positions_known_ = true;
}

}  // namespace l4::fleet
