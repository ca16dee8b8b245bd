// Addresses of HTTP servers, taken apart and put together.
//
// Used by the client and by configurations and command lines that name a server.
// Thread-safe, no state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace l4::http {

struct Url {
  std::string host;  ///< without brackets
  std::uint16_t port = 80;
  bool tls = false;          ///< https; the port is 443 if none is named
  std::string target = "/";  ///< path and query as they stand

  /// host:port as in messages and in the Host field; an IPv6 address stands in brackets.
  std::string peer() const;
};

/// http:// or https://HOST[:PORT][/PATH][?QUERY]; HOST may be [an IPv6 address]. Refused, with the
/// reason: other schemes, names and passwords, blanks, control characters, what is not ASCII, more
/// than 8 KiB. A fragment is left out.
Result<Url> parse_url(std::string_view text);

/// Encodes a segment of a path or a value of a query: everything but letters, digits and -._~
/// becomes %XX.
std::string percent_encoded(std::string_view text);

/// The inverse of percent_encoded(); an Error if a % is not followed by two hexadecimal digits.
/// `plus_is_blank`: as in queries.
Result<std::string> percent_decoded(std::string_view text, bool plus_is_blank = false);

}  // namespace l4::http
