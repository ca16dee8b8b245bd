// A matrix of scores as JSON; schemas/openapi.yaml describes it as Scores.
//
// Flow: api/score_api.cc -> here. The cells of a row are base64: a byte a column. An answer ends
// before kScoreBytesMax; rows that do not fit count as left out. Thread-safe, no state.
#pragma once

#include <optional>
#include <string_view>

#include "aggregator/scores/matrix.h"
#include "aggregator/serve/json_text.h"

namespace l4::rows {

inline constexpr std::size_t kScoreBytesMax = std::size_t{4} << 20U;

/// As in the query: nodes, ranks, phases.
std::optional<scores::What> what_of(std::string_view name);
std::string_view name_of(scores::What what);

void write(serve::JsonWriter& to, std::string_view job, const scores::Matrix& matrix);

}  // namespace l4::rows
