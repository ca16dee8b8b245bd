// The address of one end of a flow: IPv4 or IPv6, as a plain value.
//
// Place in the flow: decode/ reads addresses out of files and datagrams; streams and the topology
// are keyed by them. IPv4 addresses are kept mapped into IPv6 (::ffff:a.b.c.d). No state.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/hash.h"

namespace l4::flows {

struct Address {
  std::uint64_t high = 0, low = 0;  ///< network order read as numbers

  static Address of_ipv4(std::uint32_t value) { return {0, 0xffff'0000'0000ULL | value}; }
  bool is_ipv4() const { return high == 0 && low >> 32 == 0xffff; }
  std::uint64_t hash() const { return hashing::fold(high ^ hashing::kA, low ^ hashing::kB); }
  auto operator<=>(const Address&) const = default;
};

/// Dotted or colon form; none if it has neither form.
std::optional<Address> parse_address(std::string_view text);
std::string to_text(const Address& address);

}  // namespace l4::flows
