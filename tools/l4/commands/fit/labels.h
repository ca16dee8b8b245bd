// Reads labels (schema l4.labels/1) as an aggregator answers them.
//
// Flow: GET /api/v1/labels, or a file of that -> read_labels -> fit::fit_claims. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "aggregator/fit/fit.h"
#include "common/base/error.h"
#include "common/base/time.h"

namespace l4::commands::fit {

struct Labels {
  std::vector<l4::fit::LabelledClaim> claims;
  std::size_t incidents = 0, jobs = 0;  ///< that were labelled
  std::optional<TimeMs> newest;
};

/// Adds those of the document. A ground that this program does not know is left out: its claim was
/// made by another version. Error: where in the document, and what is wrong.
Result<void> read_labels(std::string_view text, Labels& labels);

}  // namespace l4::commands::fit
