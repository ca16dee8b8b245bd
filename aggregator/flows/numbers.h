// Medians and means of small lists.
//
// Place in the flow: used by all rules of this room. Pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace l4::flows {

/// The lower middle one of the values; zero for none.
template <class T>
T median(std::vector<T> values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// Adds to a list of which at least the latest `most` are kept.
template <class T>
void push_bounded(std::vector<T>& list, T value, std::size_t most) {
  if (list.size() >= 2 * most)
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
  list.push_back(std::move(value));
}

/// Median distance from the median, scaled to a standard deviation of normal values.
inline double scatter(const std::vector<double>& values) {
  constexpr double kToSigma = 1.4826;
  const double middle = median(values);
  std::vector<double> away;
  away.reserve(values.size());
  for (const double value : values) away.push_back(std::abs(value - middle));
  return kToSigma * median(std::move(away));
}

}  // namespace l4::flows
