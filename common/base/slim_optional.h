// An optional as large as its value: one value that never occurs stands for "none".
// For state that is kept by the million (aggregator/job); functions use std::optional, and both
// convert into each other. Value type, no ownership.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4 {

/// `None::value()` stands for "none".
template <class T, class None>
class SlimOptional {
 public:
  constexpr SlimOptional() : value_(None::value()) {}
  constexpr SlimOptional(std::nullopt_t) : SlimOptional() {}
  constexpr SlimOptional(T value) : value_(value) {}
  constexpr SlimOptional(const std::optional<T>& value) : value_(value.value_or(None::value())) {}

  constexpr bool has_value() const { return value_ != None::value(); }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const T& operator*() const { return value_; }
  constexpr const T* operator->() const { return &value_; }
  constexpr operator std::optional<T>() const {
    return has_value() ? std::optional<T>(value_) : std::nullopt;
  }
  constexpr void reset() { *this = {}; }
  constexpr bool operator==(const SlimOptional&) const = default;

 private:
  T value_;
};

struct NoTime {
  static constexpr TimeMs value() { return TimeMs::min(); }
};
struct NoIteration {
  static constexpr Iteration value() { return Iteration{std::numeric_limits<std::int64_t>::min()}; }
};

using SlimTime = SlimOptional<TimeMs, NoTime>;
using SlimIteration = SlimOptional<Iteration, NoIteration>;

}  // namespace l4
