// The address at which a program listens, as its settings name it.
//
// Place in the flow: settings -> here -> the socket of a room. Pure functions; thread-safe; no name
// is looked up.
#pragma once

#include <netdb.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace l4::sockets {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// ADDRESS:PORT, with an IP address; [ADDRESS]:PORT for IPv6. `type`: SOCK_STREAM or SOCK_DGRAM.
/// Null if the text is no such address.
Addresses read_listen_address(std::string_view text, int type);
bool is_listen_address(std::string_view text);

/// The port at which the socket listens; 0 if it has none.
std::uint16_t port_of(int socket);

}  // namespace l4::sockets
