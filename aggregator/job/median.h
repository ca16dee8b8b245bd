// The three medians of the detectors: they differ only for an even number of values.
//
// Pure functions; each reorders the values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace l4::job {

/// The larger one of the two values in the middle; 0 without values.
template <class Number>
Number upper_median(std::vector<Number>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The middle value, or the smaller of the two in the middle; there must be a value.
template <class Number>
Number lower_median(std::vector<Number>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The mean of the two values in the middle; there must be a value.
template <class Number>
Number mean_median(std::vector<Number>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*std::ranges::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace l4::job
