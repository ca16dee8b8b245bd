#include "common/wire/zmq/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ascii.h"

namespace l4::wire {
namespace {

constexpr std::size_t kHostMax = 253, kLabelMax = 63;

struct Parts {
  std::string_view host, port;
};

/// The last colon is before the port: an IPv6 address has more of them.
std::optional<Parts> parts_of(std::string_view text) {
  constexpr std::string_view kScheme = "tcp://";
  if (!text.starts_with(kScheme) || text.contains('\0')) return std::nullopt;
  text.remove_prefix(kScheme.size());
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return Parts{text.substr(0, colon), text.substr(colon + 1)};
}

bool is_port(std::string_view text) {
  std::uint16_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, wrong] = std::from_chars(text.data(), end, number);
  return wrong == std::errc{} && read == end && number > 0;
}

template <int family>
bool is_address(std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> unused{};
  return ::inet_pton(family, std::string(text).c_str(), unused.data()) == 1;
}

/// A zone may stand behind it: fe80::1%eth0.
bool is_bracketed_address(std::string_view text) {
  if (text.size() < 2 || !text.ends_with(']')) return false;
  text = text.substr(1, text.size() - 2);
  const std::size_t percent = text.find('%');
  if (percent != std::string_view::npos) {
    const std::string_view zone = text.substr(percent + 1);
    if (zone.empty() || zone.find_first_of("[]%/ ") != std::string_view::npos) return false;
  }
  return is_address<AF_INET6>(text.substr(0, percent));
}

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= kLabelMax && text.front() != '-' &&
         std::ranges::all_of(
             text, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
}

/// Names of interfaces are written likewise: eth0, eth0.100.
bool is_name(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > kHostMax) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_host(std::string_view text) {
  if (text.starts_with('[')) return is_bracketed_address(text);
  if (text.find_first_not_of("0123456789.") == std::string_view::npos)
    return is_address<AF_INET>(text);
  return is_name(text);
}

}  // namespace

bool is_connect_endpoint(std::string_view text) {
  const auto parts = parts_of(text);
  return parts && is_host(parts->host) && is_port(parts->port);
}

bool is_bind_endpoint(std::string_view text) {
  const auto parts = parts_of(text);
  return parts && (parts->host == "*" || is_host(parts->host)) &&
         (parts->port == "*" || parts->port == "0" || is_port(parts->port));
}

}  // namespace l4::wire
