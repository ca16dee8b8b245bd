#include "aggregator/http/target.h"

#include <algorithm>

#include "aggregator/serve/utf8.h"
#include "common/http/url.h"

namespace l4::http {
namespace {

constexpr std::size_t kParametersMax = 64;

std::unexpected<Error> refused(const char* where, const char* reason) {
  return std::unexpected(Error{where, reason});
}

Result<std::string> decoded(std::string_view text, const char* where, bool plus_is_blank) {
  auto plain = percent_decoded(text, plus_is_blank);
  if (!plain) return std::unexpected(Error{where, plain.error().reason});
  for (std::string_view rest = *plain; !rest.empty();) {
    const serve::CodePoint point = serve::first_code_point(rest);
    if (point.value == 0xFFFD && point.bytes == 1) return refused(where, "is not UTF-8");
    if (serve::is_control(point.value)) return refused(where, "has control characters");
    rest.remove_prefix(point.bytes);
  }
  return plain;
}

/// Cuts the text before the next `separator` off the front.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

Result<Target> read_target(std::string_view text) {
  if (!text.starts_with('/')) return refused("target", "must begin with /");
  const std::size_t mark = std::min(text.find('?'), text.size());
  Target target;
  for (std::string_view path = text.substr(0, mark); !path.empty();) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    auto segment = decoded(path.substr(0, end), "path", false);
    if (!segment) return std::unexpected(segment.error());
    if (*segment == "." || *segment == "..") return refused("path", "may not have . or .. in it");
    target.path += '/' + *segment;
    target.segments.push_back(std::move(*segment));
    path.remove_prefix(end);
  }
  std::string_view query = text.substr(std::min(mark + 1, text.size()));
  while (!query.empty()) {
    std::string_view parameter = take(query, '&');
    if (parameter.empty()) continue;
    if (target.query.size() == kParametersMax) return refused("query", "has too many parameters");
    const std::string_view key = take(parameter, '=');
    auto name = decoded(key, "query", true);
    if (!name) return std::unexpected(name.error());
    auto value = decoded(parameter, "query", true);
    if (!value) return std::unexpected(value.error());
    target.query.emplace_back(std::move(*name), std::move(*value));
  }
  return target;
}

}  // namespace l4::http
