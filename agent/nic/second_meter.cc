#include "agent/nic/second_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace l4::nic {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr Millis kClockStep{100};
/// A reading this near to a border of tenths counts as taken there: timers fire a little late.
constexpr std::int64_t kNear = 8;
/// Less than this part of the busiest tenth is chatter: keep-alives, metrics, the agent itself.
constexpr double kChatter = 1.0 / 64;
constexpr double kHalfLifeMs = 600'000;
constexpr double kWrapAt = 4'294'967'296.0;  // 2^32

std::int64_t snapped(std::int64_t ms) {
  const std::int64_t off = ms % 100;
  if (off <= kNear) return ms - off;
  return off >= 100 - kNear ? ms + 100 - off : ms;
}

std::int64_t number(TimeMs time) {
  return time.time_since_epoch().count();
}

}  // namespace

/// Bytes that were counted between two readings; empty if that is not known.
std::optional<double> SecondMeter::rise(std::uint64_t before, std::uint64_t after, double ms) {
  const auto unit = static_cast<double>(options_.unit);
  if (after >= before) return static_cast<double>(after - before) * unit;
  const double wrapped = kWrapAt - static_cast<double>(before) + static_cast<double>(after);
  const double most = options_.rate_mbps > 0 ? options_.rate_mbps * 125.0 * ms * 1.2 : kWrapAt / 2;
  if (static_cast<double>(before) < kWrapAt && wrapped * unit <= most) {
    ++wraps_;
    return wrapped * unit;
  }
  ++resets_;
  return std::nullopt;
}

void SecondMeter::add(const Reading& reading, const Finished& finished) {
  const std::optional<Reading> before = std::exchange(last_, reading);
  if (!before) return;
  const Millis wall = reading.wall - before->wall, boot = reading.boot - before->boot;
  if (wall <= Millis{0} || std::chrono::abs(wall - boot) > kClockStep) {
    finish(finished);  // the wall clock was set: what comes has other times
    return;
  }
  const auto ms = static_cast<double>(boot.count());
  auto sent = rise(before->sent, reading.sent, ms);
  auto received = rise(before->received, reading.received, ms);
  if (boot > kGapMax) sent.reset(), received.reset();
  peak_ *= std::exp2(-ms / kHalfLifeMs);
  spread(snapped(number(before->wall)), snapped(number(reading.wall)), sent, received, finished);
}

void SecondMeter::spread(std::int64_t from, std::int64_t to, std::optional<double> sent,
                         std::optional<double> received, const Finished& finished) {
  if (to <= from) to = from + 1;  // both were snapped to one border: the bytes are not lost
  const bool known = sent && received;
  const double each_ms = 1.0 / static_cast<double>(to - from);
  if (!known && to - from > kGapMax.count()) {  // only the seconds at both ends are told of
    finish(finished);
    from = std::max(from, to - to % kSecond);
  }
  for (std::int64_t at = from; at < to;) {
    const std::int64_t second = at - at % kSecond;
    if (second_ && *second_ != second) finish(finished);
    second_ = second;
    const std::int64_t border = std::min(to, at - at % 100 + 100);
    const auto span = static_cast<double>(border - at);
    Tenth& tenth = tenths_[static_cast<std::size_t>((at - second) / 100)];
    if (known) {
      tenth.sent += *sent * span * each_ms;
      tenth.received += *received * span * each_ms;
      tenth.known_ms += span;
      note_activity(at, border, *sent * each_ms * kTenthMs, *received * each_ms * kTenthMs);
    }
    at = border;
  }
  if (second_ && to % kSecond == 0 && to > *second_) finish(finished);
}

/// `sent`, `received`: bytes a tenth at the rate of this interval.
void SecondMeter::note_activity(std::int64_t from, std::int64_t to, double sent, double received) {
  peak_ = std::max(peak_, sent + received);
  const double floor = std::max(static_cast<double>(options_.busy_bytes), peak_ * kChatter);
  if (sent + received < floor) return;
  const std::int64_t begin = from - *second_, end = to - *second_;
  if (first_ < 0) first_ = begin;
  last_busy_ = end;
  if (sent >= floor / 2) last_sent_ = end;
}

void SecondMeter::finish(const Finished& finished) {
  if (!second_) return;
  wire::NicSecond out;
  out.begin = TimeMs{Millis{*second_}};
  double sent = 0, received = 0, most = 0;
  for (const Tenth& tenth : tenths_) {
    sent += tenth.sent;
    received += tenth.received;
    most = std::max(most, tenth.sent + tenth.received);
  }
  out.sent = static_cast<std::uint64_t>(std::llround(sent));
  out.received = static_cast<std::uint64_t>(std::llround(received));
  const double floor = std::max(static_cast<double>(options_.busy_bytes), peak_ * kChatter);
  for (std::size_t i = 0; i < tenths_.size(); ++i) {
    const double bytes = tenths_[i].sent + tenths_[i].received;
    if (tenths_[i].known_ms < kTenthMs / 2)
      out.tenths.set(i, wire::Tenths::kUnknown);
    else if (bytes >= floor)
      out.tenths.set(
          i, static_cast<unsigned>(std::clamp(std::lround(bytes / most * wire::Tenths::kMost), 1L,
                                              static_cast<long>(wire::Tenths::kMost))));
  }
  const auto time = [](std::int64_t ms) {
    return ms < 0 ? wire::NicSecond::kNone : static_cast<std::uint16_t>(ms);
  };
  out.first = time(first_);
  out.last = time(last_busy_);
  out.last_sent = time(last_sent_);
  second_.reset();
  tenths_ = {};
  first_ = last_busy_ = last_sent_ = -1;
  finished(out);
}

}  // namespace l4::nic
