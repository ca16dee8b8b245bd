// Endpoints of the wire in settings: tcp://HOST:PORT, and no other form of ZeroMQ.
// Flow: the settings of both programs check their endpoints here, and ZmqClient does before it
// connects. libzmq itself cuts a port to 16 bits and reports other mistakes only when the endpoint
// is used. Names are not resolved. Thread-safe, no state.
#pragma once

#include <string_view>

namespace l4::wire {

/// Whether one can connect to the endpoint: HOST is a host name, an IPv4 or [an IPv6 address], PORT
/// is from 1 to 65535.
bool is_connect_endpoint(std::string_view text);

/// Whether one can listen at the endpoint: HOST may also be the name of an interface, or `*` for
/// all addresses; PORT may also be `*` or 0 for any free one.
bool is_bind_endpoint(std::string_view text);

}  // namespace l4::wire
