#include "aggregator/http/own_host.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "common/base/ascii.h"

namespace l4::http {
namespace {

bool same_host(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool is_address(std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  if (text.starts_with('[') && text.ends_with(']'))
    return inet_pton(AF_INET6, std::string(text.substr(1, text.size() - 2)).c_str(),
                     parsed.data()) == 1;
  return inet_pton(AF_INET, std::string(text).c_str(), parsed.data()) == 1;
}

std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.ends_with(']')) return host;
  return host.substr(0, colon);
}

}  // namespace

bool is_own_host(std::string_view host, std::span<const std::string> names) {
  std::string_view name = without_port(host);
  if (is_address(name)) return true;
  if (name.ends_with('.')) name.remove_suffix(1);
  return same_host(name, "localhost") ||
         std::ranges::any_of(names, [&](const std::string& own) { return same_host(name, own); });
}

bool is_loopback(std::string_view host) {
  return same_host(host, "localhost") || host == "::1" ||
         (host.starts_with("127.") && is_address(host));
}

bool is_same_site(std::string_view origin, std::string_view host) {
  if (origin.empty()) return true;
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && same_host(origin.substr(scheme + 3), host);
}

}  // namespace l4::http
