// Fits how sure reports are to the labelled claims of one site.
//
// Place in the flow: labels of incidents and jobs (confirm/label.h) -> `l4 fit` -> fit_claims ->
// table_file.h, which writes a site's table. Logistic regression over the grounds of the claims:
// weights keep the sign that the table gives them, and an L2 penalty draws each towards its weight
// in the table, so that few claims move little. No claim is judged by a fit that saw its source
// (the confirmed fault or the job). Pure and deterministic; some milliseconds for a thousand
// claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "aggregator/diagnose/clues/grounds.h"

namespace l4::fit {

namespace clues = diagnose::clues;

/// One claim of a report, and what a person has said of it.
struct LabelledClaim {
  clues::Claim of = clues::Claim::state;
  bool right = false;
  clues::Grounds grounds;
  std::string source;  ///< claims of one source are never on both sides of a comparison
};

struct FitOptions {
  double pull = 1;         ///< of the penalty: 1 / variance of a weight around the table's
  std::size_t folds = 8;   ///< parts into which the sources are dealt
  std::uint64_t seed = 1;  ///< deals them
  std::size_t claims_min = 60, wrong_min = 6, sources_min = 12;  ///< less is not fitted
};

struct Quality {
  double error = 0;  ///< expected calibration error
  double loss = 0;   ///< mean log loss
};

/// A ground that claims have.
struct FittedGround {
  clues::GroundKind kind = clues::GroundKind::node_base;
  double weight = 0;
  std::size_t claims = 0, right = 0;  ///< that have it
};

/// What became of one kind of claim.
struct FitResult {
  clues::Claim of = clues::Claim::state;
  std::size_t claims = 0, right = 0, sources = 0;
  Quality table;     ///< of the confidences by the table
  Quality held_out;  ///< of those by fits that did not see the claim's source
  double bound = 0;  ///< error that calibrated confidences would keep (calibration_bound)
  std::string kept;  ///< why the table's weights are kept; empty: the fitted ones are better
  std::vector<FittedGround> grounds;  ///< fitted on all claims; none where weights are kept
};

/// Of the claims of this kind among `claims`. Weights are kept if there are too few claims, wrong
/// ones or sources; if the log loss held out is not lower than the table's by more than the
/// standard error of the difference over the sources; or if the calibration error held out is
/// higher.
FitResult fit_claims(clues::Claim of, const std::vector<LabelledClaim>& claims,
                     const clues::GroundRows& table, const FitOptions& options);

/// The weights alone, without a comparison: `table` with those of the grounds that claims have.
/// Claims with a ground that bounds the confidence do not count.
clues::GroundRows fitted_rows(const std::vector<const LabelledClaim*>& claims,
                              const clues::GroundRows& table, double pull);

}  // namespace l4::fit
