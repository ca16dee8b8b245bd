#include "aggregator/flows/address.h"

#include <doctest/doctest.h>

namespace l4::flows {

TEST_CASE("addresses read as they are written") {
  for (const char* text :
       {"10.0.0.1", "255.255.255.255", "0.0.0.0", "fe80::1", "::", "2001:db8::8a2e:370:7334"}) {
    const auto address = parse_address(text);
    REQUIRE_MESSAGE(address, text);
    CHECK(to_text(*address) == text);
  }
  CHECK(parse_address("10.0.0.1")->is_ipv4());
  CHECK_FALSE(parse_address("fe80::1")->is_ipv4());
}

TEST_CASE("what is no address is refused") {
  for (const char* text : {"", "10.0.0", "10.0.0.256", "10.0.0.1.2", "10.0.0.x", " 10.0.0.1",
                           "10.0.0.1 ", "0010.0.0.1", "fe80::1::2", "fe80:::", "node-1",
                           "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc"})
    CHECK_FALSE_MESSAGE(parse_address(text), text);
}

TEST_CASE("addresses that differ in one bit have different hashes") {
  CHECK(Address::of_ipv4(1).hash() != Address::of_ipv4(2).hash());
  CHECK(parse_address("fe80::1")->hash() != parse_address("fe81::1")->hash());
}

}  // namespace l4::flows
