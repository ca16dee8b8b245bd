#include "aggregator/api/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "aggregator/serve/utf8.h"
#include "common/base/nearest.h"

namespace l4::api {
namespace {

using http::Request;
using http::Response;

constexpr std::size_t kShownBytes = 80;

/// The rule that a value breaks; empty if it is valid.
std::string must_be(Value kind, std::string_view value) {
  switch (kind) {
    case Value::text:
      return value.empty() ? "something" : "";
    case Value::flag:
      return value == "true" || value == "false" ? "" : "true or false";
    case Value::count:
      return count_in(value) ? "" : fmt::format("a number from 1 to {}", kCountMax);
    case Value::rows:
      return count_in(value, kMapRowsMax) ? "" : fmt::format("a number from 1 to {}", kMapRowsMax);
    case Value::format:
      return value == "json" || value == "toml" ? "" : "json or toml";
    case Value::own:
      break;
  }
  return "";
}

std::string unknown(const Request& request, const std::string& name,
                    std::span<const ParameterRow> known) {
  std::vector<std::string> names;
  for (const ParameterRow& row : known) names.emplace_back(row.name);
  const std::string shown(serve::cut(name, kShownBytes));
  std::string text =
      fmt::format("'{}' is no parameter of {}", shown, serve::cut(request.path, 2 * kShownBytes));
  const std::string near = nearest_word(shown, names);
  if (known.empty()) return text + ", which has none";
  if (!near.empty()) return text + fmt::format("; did you mean {}?", near);
  return text + fmt::format("; it has {}", fmt::join(names, ", "));
}

}  // namespace

std::optional<std::size_t> count_in(std::string_view text, std::size_t most) {
  std::size_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, count);
  if (failed != std::errc{} || at != end || count < 1 || count > most) return std::nullopt;
  return count;
}

std::string_view parameter(const Request& request, std::string_view name) {
  for (const auto& [key, value] : request.query)
    if (key == name) return value;
  return {};
}

std::optional<Response> refused_parameter(std::span<const ParameterRow> known,
                                          const Request& request) {
  const auto wrong = [](const std::string& sentence) {
    return http::error_response(400, "bad_request", sentence);
  };
  std::vector<std::string> seen;
  for (const auto& [name, value] : request.query) {
    const auto row = std::ranges::find(known, name, &ParameterRow::name);
    if (row == known.end()) return wrong(unknown(request, name, known));
    if (std::ranges::find(seen, name) != seen.end()) return wrong(name + " is there twice");
    seen.push_back(name);
    if (const std::string must = must_be(row->value, value); !must.empty())
      return wrong(
          fmt::format("{} must be {}, not '{}'", name, must, serve::cut(value, kShownBytes)));
  }
  return std::nullopt;
}

}  // namespace l4::api
