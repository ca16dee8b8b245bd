#include "aggregator/http/own_host.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace l4::http {
namespace {

TEST_CASE("own host: addresses, localhost and names that are known") {
  const std::vector<std::string> names{"head-node", "l4.example.org"};
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:7440", "10.0.0.7:80", "[::1]", "[::1]:7440", "[2001:db8::1]:1",
        "localhost", "LocalHost:7440", "localhost.", "head-node:7440", "L4.Example.Org"}) {
    CAPTURE(host);
    CHECK(is_own_host(host, names));
  }
  for (const char* host :
       {"", ":7440", "evil.example", "evil.example:7440", "localhost.evil.example", "127.0.0.1.x",
        "head-node.evil", "[::1", "[evil]", "127.0.0.1@evil.example", "1.2.3", "a:b:c"}) {
    CAPTURE(host);
    CHECK_FALSE(is_own_host(host, names));
  }
  CHECK_FALSE(is_own_host("head-node", {}));
}

TEST_CASE("own host: the site that a browser names is the one that is asked") {
  CHECK(is_same_site("", "127.0.0.1:7440"));  // no browser
  CHECK(is_same_site("http://127.0.0.1:7440", "127.0.0.1:7440"));
  CHECK(is_same_site("https://Head-Node", "head-node"));
  for (const char* origin : {"null", "http://evil.example", "http://127.0.0.1:8080",
                             "http://127.0.0.1:7440.evil.example", "127.0.0.1:7440"}) {
    CAPTURE(origin);
    CHECK_FALSE(is_same_site(origin, "127.0.0.1:7440"));
  }
}

}  // namespace
}  // namespace l4::http
