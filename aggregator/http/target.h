// The target of a request, decoded and checked: what a handler sees is text and stays in its tree.
//
// Flow: Server -> read_target -> Request. Private to this room. Thread-safe, no state.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace l4::http {

struct Target {
  std::string path;
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> query;
};

/// /PATH[?QUERY]. Refused: other forms, broken %XX, control characters, invalid UTF-8, segments
/// that are . or .., more than 64 parameters.
Result<Target> read_target(std::string_view text);

inline constexpr auto kMethods = "GET, HEAD, POST, DELETE";
inline constexpr auto kKnownMethods = "only GET, HEAD, POST and DELETE are known";
constexpr bool is_known_method(std::string_view method) {
  return method == "GET" || method == "POST" || method == "HEAD" || method == "DELETE";
}

}  // namespace l4::http
