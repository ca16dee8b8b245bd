// The earliest and the latest of values that may be missing: times, iterations.
#pragma once

namespace l4 {

/// Sets the optional `kept` to `other` if `kept` is empty or larger. `other` may be a value or an
/// optional; an empty one changes nothing.
template <class Kept, class Other>
constexpr void keep_earliest(Kept& kept, const Other& other) {
  if constexpr (requires { *other; }) {
    if (other && (!kept || *other < *kept)) kept = other;
  } else {
    if (!kept || other < *kept) kept = other;
  }
}

/// Sets `kept` to `other` if `kept` is empty or smaller; otherwise like keep_earliest().
template <class Kept, class Other>
constexpr void keep_latest(Kept& kept, const Other& other) {
  if constexpr (requires { *other; }) {
    if (other && (!kept || *other > *kept)) kept = other;
  } else {
    if (!kept || other > *kept) kept = other;
  }
}

}  // namespace l4
