#include "aggregator/http/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "aggregator/serve/utf8.h"

namespace l4::http {
namespace {

/// What stands for {...} if the path has this pattern.
std::optional<std::vector<std::string>> arguments_of(std::string_view pattern,
                                                     const std::vector<std::string>& segments) {
  std::vector<std::string> arguments;
  for (const std::string& segment : segments) {
    if (pattern.empty()) return {};
    pattern.remove_prefix(1);
    const std::string_view part = pattern.substr(0, pattern.find('/'));
    if (part.starts_with('{')) {
      if (segment.empty()) return {};
      arguments.push_back(segment);
    } else if (part != segment) {
      return {};
    }
    pattern.remove_prefix(part.size());
  }
  if (!pattern.empty()) return {};
  return arguments;
}

}  // namespace

Response error_response(unsigned status, std::string_view code, std::string_view message) {
  std::string text;
  for (const char c : serve::harmless(message)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return {status, "application/json",
          fmt::format("{{\"error\": {{\"code\": \"{}\", \"message\": \"{}\"}}}}\n", code, text)};
}

std::expected<Match, Response> match(const Request& request) {
  std::string methods;
  for (const RouteRow& row : kRoutes) {
    auto arguments = arguments_of(row.pattern, request.segments);
    if (!arguments) continue;
    if (row.method == request.method) return Match{row.route, std::move(*arguments)};
    methods += fmt::format("{}{}", methods.empty() ? "" : ", ", row.method);
  }
  if (!methods.empty())
    return std::unexpected(error_response(405, "method_not_allowed",
                                          fmt::format("this path is there for {}", methods)));
  return std::unexpected(error_response(
      404, "not_found", fmt::format("there is nothing at {}", serve::cut(request.path, 200))));
}

}  // namespace l4::http
