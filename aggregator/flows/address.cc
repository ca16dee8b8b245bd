#include "aggregator/flows/address.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstring>

namespace l4::flows {
namespace {

constexpr std::size_t kBytes = 16;

std::optional<Address> parse_ipv4(std::string_view text) {
  std::uint32_t value = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at == end || *at++ != '.')) return std::nullopt;
    std::uint8_t byte = 0;
    const auto [next, error] = std::from_chars(at, end, byte);
    if (error != std::errc() || next - at > 3) return std::nullopt;
    value = value << 8 | byte;
    at = next;
  }
  if (at != end) return std::nullopt;
  return Address::of_ipv4(value);
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return parse_ipv4(text);
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size()) return std::nullopt;
  std::memcpy(terminated.data(), text.data(), text.size());
  std::array<std::uint8_t, kBytes> bytes{};
  if (inet_pton(AF_INET6, terminated.data(), bytes.data()) != 1) return std::nullopt;
  Address address;
  for (std::size_t i = 0; i < 8; ++i) address.high = address.high << 8 | bytes[i];
  for (std::size_t i = 8; i < kBytes; ++i) address.low = address.low << 8 | bytes[i];
  return address;
}

std::string to_text(const Address& address) {
  std::array<std::uint8_t, kBytes> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(address.high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(address.low >> (56 - 8 * i));
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool is_v4 = address.is_ipv4();
  inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? bytes.data() + 12 : bytes.data(), text.data(),
            text.size());
  return text.data();
}

}  // namespace l4::flows
