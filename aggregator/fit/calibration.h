// How well confidences are kept: of the claims given with confidence c, a share c should be right.
//
// Place in the flow: fit.h judges weights by it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace l4::fit {

/// One claim: how sure the report was (0 to 1), and whether it was right.
struct Judged {
  double said = 0;
  bool right = false;
};

/// Expected calibration error (Guo et al., "On Calibration of Modern Neural Networks", ICML 2017):
/// the mean distance of confidence and share right over five bins of equal mass. 0 for no claim.
double calibration_error(std::vector<Judged> claims);

/// The error that 95 of 100 reporters keep whose claims of these confidences are right just as
/// often; by 2,000 draws with this seed.
double calibration_bound(std::vector<Judged> claims, std::uint64_t seed);

/// Negative log-likelihood of one claim; confidences are kept away from 0 and 1.
double log_loss(const Judged& claim);
/// Its mean over all; 0 for no claim.
double log_loss(const std::vector<Judged>& claims);

}  // namespace l4::fit
