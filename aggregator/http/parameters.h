// The parameters that each route knows, and what their values may be: one list for the handler,
// the tests and the documents.
//
// Flow: match -> refused_parameter -> the route's handler, which may rely on it.
// schemas/openapi.yaml describes the same; tests/openapi_test.py compares them. What is not known
// is refused: `?opne=true` would be answered with the wrong list. Thread-safe, no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "aggregator/http/routes.h"

namespace l4::http {

enum class Value : std::uint8_t {
  text,    ///< anything but nothing
  flag,    ///< true or false
  count,   ///< 1 to kCountMax
  format,  ///< json or toml
  own,     ///< the handler says what it must be
};

inline constexpr std::size_t kCountMax = 1'000;

struct ParameterRow {
  Route route;
  std::string_view name;
  Value value;
};

inline constexpr std::array kParameters{
    ParameterRow{Route::jobs, "count", Value::count},
    ParameterRow{Route::jobs, "after", Value::text},
    ParameterRow{Route::snapshot, "at", Value::text},
    ParameterRow{Route::snapshots, "count", Value::count},
    ParameterRow{Route::snapshots, "before", Value::text},
    ParameterRow{Route::nodes, "count", Value::count},
    ParameterRow{Route::nodes, "after", Value::text},
    ParameterRow{Route::iterations, "count", Value::count},
    ParameterRow{Route::iterations, "after", Value::text},
    ParameterRow{Route::lines, "template", Value::own},
    ParameterRow{Route::lines, "node", Value::own},
    ParameterRow{Route::lines, "rank", Value::own},
    ParameterRow{Route::lines, "around", Value::own},
    ParameterRow{Route::lines, "context", Value::own},
    ParameterRow{Route::lines, "limit", Value::own},
    ParameterRow{Route::agents, "count", Value::count},
    ParameterRow{Route::agents, "after", Value::text},
    ParameterRow{Route::incidents, "job", Value::text},
    ParameterRow{Route::incidents, "open", Value::flag},
    ParameterRow{Route::incidents, "count", Value::count},
    ParameterRow{Route::incidents, "after", Value::text},
    ParameterRow{Route::events, "job", Value::text},
    ParameterRow{Route::faults, "confirmed", Value::flag},
    ParameterRow{Route::faults, "whole", Value::flag},
    ParameterRow{Route::faults, "format", Value::format},
    ParameterRow{Route::faults, "count", Value::count},
    ParameterRow{Route::faults, "after", Value::text},
    ParameterRow{Route::pool, "whole", Value::flag},
    ParameterRow{Route::pool, "kind", Value::text},
    ParameterRow{Route::pool, "count", Value::count},
    ParameterRow{Route::pool, "after", Value::text},
};

/// 400 for the first that the route does not know, that is there twice or has no such value.
std::optional<Response> refused_parameter(Route route, const Request& request);

/// The value of the first of this name; empty if there is none.
std::string_view parameter(const Request& request, std::string_view name);

/// A whole number from 1 to kCountMax, else nothing.
std::optional<std::size_t> count_in(std::string_view text);

}  // namespace l4::http
