#include "aggregator/fit/calibration.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace l4::fit {
namespace {

constexpr std::size_t kBins = 5, kDraws = 2'000;
constexpr double kKept = 0.95, kLeastShare = 1e-3;

/// Of claims in the order of their confidences.
double error_of_sorted(const std::vector<Judged>& claims) {
  if (claims.empty()) return 0;
  const auto edge = [&](std::size_t bin) { return bin * claims.size() / kBins; };
  double sum = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    double apart = 0;
    for (std::size_t i = edge(bin); i < edge(bin + 1); ++i)
      apart += claims[i].said - (claims[i].right ? 1.0 : 0.0);
    sum += std::abs(apart);
  }
  return sum / static_cast<double>(claims.size());
}

/// Equal ones stay in their order: an order by what was right would make errors out of nothing.
void sort(std::vector<Judged>& claims) {
  std::ranges::stable_sort(claims, {}, &Judged::said);
}

}  // namespace

double calibration_error(std::vector<Judged> claims) {
  sort(claims);
  return error_of_sorted(claims);
}

double calibration_bound(std::vector<Judged> claims, std::uint64_t seed) {
  sort(claims);
  std::mt19937_64 random(seed);
  std::vector<double> errors(kDraws);
  for (double& error : errors) {
    // The standard's distributions differ between libraries; this does not.
    for (Judged& claim : claims)
      claim.right = static_cast<double>(random() >> 11U) * 0x1p-53 < claim.said;
    error = error_of_sorted(claims);
  }
  std::ranges::sort(errors);
  return errors[static_cast<std::size_t>(kKept * kDraws)];
}

double log_loss(const Judged& claim) {
  const double share = claim.right ? claim.said : 1 - claim.said;
  return -std::log(std::clamp(share, kLeastShare, 1 - kLeastShare));
}

double log_loss(const std::vector<Judged>& claims) {
  double sum = 0;
  for (const Judged& claim : claims) sum += log_loss(claim);
  return claims.empty() ? 0 : sum / static_cast<double>(claims.size());
}

}  // namespace l4::fit
