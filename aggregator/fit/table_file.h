// Writes fitted weights into a site's table, a file of the form of config/scoring.toml.
//
// Place in the flow: fit.h -> here -> `l4 diagnose --table` and l4-aggregator's
// `[detect] scoring_table`, which read it by clues/scale.h. Pure: text in, text out.
#pragma once

#include <string>

#include "aggregator/fit/fit.h"

namespace l4::fit {

/// `text` with the rows [confidence.CLAIM.GROUND] of the fit's grounds in place of its own such
/// rows; everything else, comments too, stays. `made` ends each row's `origin`: what was fitted on,
/// one line without quotation marks and backslashes. Weights are written to a hundredth.
std::string with_fitted(std::string text, const FitResult& fit, const clues::GroundRows& table,
                        const std::string& made);

}  // namespace l4::fit
