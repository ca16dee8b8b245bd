#include "common/wire/zmq/endpoint.h"

#include <doctest/doctest.h>

#include <string>

#include "common/wire/zmq/socket.h"

namespace l4::wire {
namespace {

TEST_CASE("endpoint: hosts and ports that both ends take") {
  for (const char* text :
       {"tcp://127.0.0.1:1", "tcp://10.0.0.1:65535", "tcp://[::1]:7430",
        "tcp://[fe80::1%eth0]:7430", "tcp://[::ffff:10.0.0.1]:7430", "tcp://localhost:7430",
        "tcp://l4-aggregator.l4.svc:7430", "tcp://host.example.:7430", "tcp://rack_1:7430",
        "tcp://eth0.100:7430"}) {
    CAPTURE(text);
    CHECK(is_connect_endpoint(text));
    CHECK(is_bind_endpoint(text));
  }
}

TEST_CASE("endpoint: what neither end takes") {
  for (const char* text : {"",
                           "nowhere",
                           "tcp://",
                           "tcp://:7430",
                           "tcp://h",
                           "tcp://h:",
                           "udp://h:7430",
                           "TCP://h:1",
                           "ipc:///tmp/x:1",
                           "tcp://127.0.0.1:99999",
                           "tcp://127.0.0.1:65536",
                           "tcp://h:12a",
                           "tcp://h:-1",
                           "tcp://h:+1",
                           "tcp://h: 1",
                           "tcp://h:1 ",
                           "tcp://h:00",
                           "tcp://a b:7430",
                           "tcp://h:7430/x",
                           "tcp://h/x:7430",
                           "tcp://h:7430:7430",
                           "tcp://[::1:7430",
                           "tcp://::1:7430",
                           "tcp://[]:7430",
                           "tcp://[127.0.0.1]:7430",
                           "tcp://[::1]x:7430",
                           "tcp://[::1%]:7430",
                           "tcp://10.0.0.256:7430",
                           "tcp://10.0.0:7430",
                           "tcp://a..b:7430",
                           "tcp://.:7430",
                           "tcp://-h:7430",
                           "tcp://user@h:7430",
                           "tcp://**:7430",
                           "tcp://*x:7430",
                           "tcp://10.0.0.2:0;10.0.0.1:7430",
                           "tcp://tcp://h:7430"}) {
    CAPTURE(text);
    CHECK_FALSE(is_connect_endpoint(text));
    CHECK_FALSE(is_bind_endpoint(text));
  }
  using namespace std::string_view_literals;
  CHECK_FALSE(is_connect_endpoint("tcp://[::1\0]:7430"sv));
  CHECK_FALSE(is_bind_endpoint("tcp://" + std::string(64, 'a') + ":7430"));
  std::string longest = std::string(63, 'a') + '.';
  longest += longest + longest + std::string(61, 'a');
  CHECK(is_connect_endpoint("tcp://" + longest + ":7430"));
  CHECK_FALSE(is_connect_endpoint("tcp://" + longest + "a:7430"));
}

TEST_CASE("endpoint: all addresses and any free port are for listening alone") {
  for (const char* text : {"tcp://*:7430", "tcp://127.0.0.1:*", "tcp://127.0.0.1:0", "tcp://*:*",
                           "tcp://*:0", "tcp://[::]:*"}) {
    CAPTURE(text);
    CHECK(is_bind_endpoint(text));
    CHECK_FALSE(is_connect_endpoint(text));
  }
}

TEST_CASE("endpoint: an IPv4 address is printed as such, whatever the socket is") {
  CHECK(plain_endpoint("tcp://[::ffff:127.0.0.1]:7430") == "tcp://127.0.0.1:7430");
  for (const char* same : {"tcp://127.0.0.1:7430", "tcp://[::1]:7430", "tcp://[fe80::1]:1",
                           "tcp://[::ffff:7f00:1]:1", "tcp://host:1", "]tcp[", ""}) {
    CAPTURE(same);
    CHECK(plain_endpoint(same) == same);
  }
  CHECK(plain_address("::ffff:10.0.0.1") == "10.0.0.1");
  CHECK(plain_address("::1") == "::1");
}

}  // namespace
}  // namespace l4::wire
