// The terms of one score as JSON; schemas/openapi.yaml describes them as ScoreTerms.
//
// Flow: api/score_api.cc -> here. Thread-safe, no state. Bounds: those of scores/terms.h, and
// kTermTextMax of each template.
#pragma once

#include <cstddef>
#include <string_view>

#include "aggregator/scores/terms.h"
#include "aggregator/serve/json_text.h"

namespace l4::rows {

inline constexpr std::size_t kTermTextMax = 4'096;  ///< characters of a template

void write(serve::JsonWriter& to, std::string_view job, std::string_view node,
           const scores::Terms& terms);

}  // namespace l4::rows
