#include "common/http/url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/base/ascii.h"

namespace l4::http {
namespace {

constexpr std::string_view kPlain = "http://", kOverTls = "https://";
constexpr std::uint16_t kTlsPort = 443;
constexpr std::size_t kUrlMax = 8 << 10;

bool is_letter_or_digit(char c) {
  return is_letter(c) || is_digit(c);
}

bool is_visible(char c) {
  return c > ' ' && c < 0x7F;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::unexpected<Error> refused(std::string_view text, std::string reason) {
  return std::unexpected(Error{std::string(text.substr(0, 200)), std::move(reason)});
}

/// Parses HOST, HOST:PORT or [ADDRESS]:PORT; false if the text has another form.
bool read_authority(std::string_view text, Url& url) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return false;
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
    const auto fits = [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; };
    if (host.find(':') == std::string_view::npos || !std::ranges::all_of(host, fits)) return false;
  } else {
    const std::size_t colon = text.find(':');
    has_port = colon != std::string_view::npos;
    host = text.substr(0, colon);
    if (has_port) port = text.substr(colon + 1);
    const auto fits = [](char c) {
      return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
    };
    if (!std::ranges::all_of(host, fits)) return false;
  }
  if (host.empty()) return false;
  url.host = host;
  if (!has_port) return true;
  const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), url.port);
  return wrong == std::errc() && end == port.data() + port.size() && url.port != 0;
}

}  // namespace

std::string Url::peer() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Result<Url> parse_url(std::string_view text) {
  if (text.size() > kUrlMax) return refused(text, "is longer than an address may be");
  if (!std::ranges::all_of(text, is_visible))
    return refused(text, "has blanks or characters that an address has not; write them as %XX");
  Url url;
  url.tls = text.starts_with(kOverTls);
  if (!url.tls && !text.starts_with(kPlain))
    return refused(text, "is no address; write it as http://HOST:PORT or https://HOST:PORT");
  if (url.tls) url.port = kTlsPort;
  std::string_view rest = text.substr((url.tls ? kOverTls : kPlain).size());
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  if (authority.find('@') != std::string_view::npos)
    return refused(text, "a name or password in an address is not used");
  if (!read_authority(authority, url))
    return refused(text, "is no address; write it as http://HOST:PORT or https://HOST:PORT");
  url.target = rest.substr(end);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_letter_or_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

Result<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += plus_is_blank && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) return refused(text, "a % must have two hexadecimal digits behind it");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace l4::http
