// Parameters of a route, and what their values may be.
//
// Flow: match_route -> refused_parameter with the parameters of the row (routes.cc) -> the route's
// handler, which may rely on them. schemas/openapi.yaml describes the same;
// tests/openapi_test.py compares them. Unknown parameters are refused: without that, `?opne=true`
// would be answered with the wrong list. Thread-safe, no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "aggregator/http/server.h"

namespace l4::api {

enum class Value : std::uint8_t {
  text,    ///< any text that is not empty
  flag,    ///< true or false
  count,   ///< 1 to kCountMax
  rows,    ///< 1 to kMapRowsMax
  format,  ///< json or toml
  own,     ///< the handler checks its value
};

inline constexpr std::size_t kCountMax = 1'000;
inline constexpr std::size_t kMapRowsMax = 4'096;  ///< rows of a matrix of scores

struct ParameterRow {
  std::string_view name;
  Value value;
};

/// The answer 400 for the first parameter that is not in `known`, is repeated, or has an invalid
/// value.
std::optional<http::Response> refused_parameter(std::span<const ParameterRow> known,
                                                const http::Request& request);

/// The value of the first parameter of this name; empty if there is none.
std::string_view parameter(const http::Request& request, std::string_view name);

/// A whole number from 1 to `most`, else nothing.
std::optional<std::size_t> count_in(std::string_view text, std::size_t most = kCountMax);

}  // namespace l4::api
