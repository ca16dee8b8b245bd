// Addresses at which programs listen, as settings name them.
#include "common/sockets/listen_address.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "common/base/descriptor.h"

namespace l4::sockets {
namespace {

TEST_CASE("a listen address is an IP address and a port, of IPv6 in brackets") {
  for (const char* good : {"127.0.0.1:0", "0.0.0.0:65535", "[::1]:4739", "[::]:7441"})
    CHECK_MESSAGE(is_listen_address(good), good);
  for (const char* bad : {"", "4739", ":4739", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                          "127.0.0.1:-1", "::1:4739", "[127.0.0.1]:4739", "localhost:4739"})
    CHECK_MESSAGE(!is_listen_address(bad), bad);
}

TEST_CASE("the port of a socket is known once it is bound") {
  for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
    const Addresses any = read_listen_address("127.0.0.1:0", type);
    REQUIRE(any);
    CHECK(any->ai_socktype == type);
    const Descriptor own(::socket(any->ai_family, type, 0));
    REQUIRE(::bind(own.number(), any->ai_addr, any->ai_addrlen) == 0);
    CHECK(port_of(own.number()) > 0);
  }
  CHECK(port_of(-1) == 0);
}

}  // namespace
}  // namespace l4::sockets
