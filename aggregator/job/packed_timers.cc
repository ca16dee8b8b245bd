#include "aggregator/job/packed_timers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace l4::job {
namespace {

constexpr std::size_t kTimersMax = std::numeric_limits<std::uint16_t>::max();
constexpr std::array<double, 4> kScales{1, 10, 100, 1000};

// How a timer is kept: bits of a byte.
constexpr unsigned kScale = 3;    // index into kScales of the sum
constexpr unsigned kPlain = 4;    // the sum is a double
constexpr unsigned kSeveral = 8;  // count and maximum follow

template <class T>
void put(std::vector<std::uint8_t>& out, T value) {
  std::array<std::uint8_t, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class T>
T decode(const std::uint8_t*& at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

/// Fewest digits that give `value` back; empty if none do.
bool scaled(double value, std::uint8_t& scale, std::uint32_t& digits) {
  for (scale = 0; scale < kScales.size(); ++scale) {
    const double times = std::round(value * kScales[scale]);
    if (!(times >= 0 && times <= std::numeric_limits<std::uint32_t>::max())) return false;
    digits = static_cast<std::uint32_t>(times);
    const double again = static_cast<double>(digits) / kScales[scale];
    if (again == value && !std::signbit(value)) return true;
  }
  return false;
}

/// Bytes of the timer that begins at `left`; 0 if it is cut.
std::size_t size_of_timer(std::span<const std::uint8_t> left) {
  constexpr std::size_t kHead = sizeof(std::uint16_t) + 1;
  if (left.size() < kHead) return 0;
  const std::uint8_t form = left[kHead - 1];
  std::size_t size = kHead + ((form & kPlain) != 0 ? sizeof(double) : sizeof(std::uint32_t));
  if ((form & kSeveral) != 0) size += sizeof(std::uint32_t) + sizeof(double);
  return size <= left.size() ? size : 0;
}

void put_timer(std::vector<std::uint8_t>& out, const wire::TimerTotal& timer) {
  const bool several = timer.count != 1 || timer.max_ms != timer.sum_ms;
  std::uint8_t scale = 0;
  std::uint32_t digits = 0;
  const bool short_form = scaled(timer.sum_ms, scale, digits);
  const unsigned form = (short_form ? scale : kPlain) | (several ? kSeveral : 0u);
  put(out, timer.timer);
  put(out, static_cast<std::uint8_t>(form));
  if (short_form)
    put(out, digits);
  else
    put(out, timer.sum_ms);
  if (!several) return;
  put(out, timer.count);
  put(out, timer.max_ms);
}

}  // namespace

void PackedTimers::assign(std::span<const wire::TimerTotal> timers) {
  timers = timers.first(std::min(timers.size(), kTimersMax));
  if (timers.empty()) return clear();
  std::vector<std::uint8_t> packed;
  packed.reserve(2 + timers.size() * 8);
  put(packed, static_cast<std::uint16_t>(timers.size()));
  for (const wire::TimerTotal& timer : timers) put_timer(packed, timer);
  bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(packed.size());
  std::ranges::copy(packed, bytes_.get());
}

std::span<const std::uint8_t> PackedTimers::packed() const {
  if (empty()) return {};
  const std::uint8_t* at = bytes_.get();
  constexpr std::size_t kTimerMax = 2 + 1 + sizeof(double) + sizeof(std::uint32_t) + sizeof(double);
  std::size_t size = sizeof(std::uint16_t);
  for (auto left = decode<std::uint16_t>(at); left > 0; --left)
    size += size_of_timer({bytes_.get() + size, kTimerMax});
  return {bytes_.get(), size};
}

bool PackedTimers::assign_packed(std::span<const std::uint8_t> packed) {
  clear();
  if (packed.empty()) return true;
  if (packed.size() < sizeof(std::uint16_t)) return false;
  const std::uint8_t* at = packed.data();
  auto rest = packed.subspan(sizeof(std::uint16_t));
  for (auto left = decode<std::uint16_t>(at); left > 0; --left) {
    const std::size_t size = size_of_timer(rest);
    if (size == 0) return false;
    rest = rest.subspan(size);
  }
  if (!rest.empty() || packed.size() == sizeof(std::uint16_t)) return false;
  bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(packed.size());
  std::ranges::copy(packed, bytes_.get());
  return true;
}

PackedTimers::Iterator PackedTimers::begin() const {
  if (empty()) return {};
  const std::uint8_t* at = bytes_.get();
  const auto count = decode<std::uint16_t>(at);
  return {at, count};
}

PackedTimers::Iterator::Iterator(const std::uint8_t* at, std::size_t left) : at_(at), left_(left) {
  read();
}

PackedTimers::Iterator& PackedTimers::Iterator::operator++() {
  --left_;
  if (left_ > 0) read();
  return *this;
}

void PackedTimers::Iterator::read() {
  total_.timer = decode<std::uint16_t>(at_);
  const auto form = decode<std::uint8_t>(at_);
  total_.sum_ms = (form & kPlain) != 0
                      ? decode<double>(at_)
                      : static_cast<double>(decode<std::uint32_t>(at_)) / kScales[form & kScale];
  total_.count = 1;
  total_.max_ms = total_.sum_ms;
  if ((form & kSeveral) == 0) return;
  total_.count = decode<std::uint32_t>(at_);
  total_.max_ms = decode<double>(at_);
}

}  // namespace l4::job
