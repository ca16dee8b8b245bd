#include "tools/l4/commands/setup/machine.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "common/base/descriptor.h"
#include "tests/temp_folder.h"

namespace l4::commands::setup {
namespace {

namespace fs = std::filesystem;

TEST_CASE("machine: host and port of an address") {
  CHECK(host_port_of("tcp://head:7430")->host == "head");
  CHECK(host_port_of("tcp://head:7430")->port == 7430);
  CHECK(host_port_of("[::1]:80")->host == "::1");
  for (const char* wrong : {"head", "head:", ":7430", "head:0", "head:65536", "head:74x"})
    CHECK_MESSAGE(!host_port_of(wrong).has_value(), wrong);
}

TEST_CASE("machine: a port that is in use names its holder, and is free afterwards") {
  std::uint16_t port = 0;
  {
    const Descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    sockaddr any{};
    std::memcpy(&any, &address, sizeof any);
    REQUIRE(::bind(listener.number(), &any, sizeof address) == 0);
    REQUIRE(::listen(listener.number(), 1) == 0);
    socklen_t size = sizeof any;
    REQUIRE(::getsockname(listener.number(), &any, &size) == 0);
    std::memcpy(&address, &any, sizeof address);
    port = ::ntohs(address.sin_port);
    for (const char* host : {"", "127.0.0.1"}) {
      const PortUse use = use_of_port(host, port);
      CHECK(use.taken);
      CHECK(use.who.find("(pid " + std::to_string(::getpid()) + ")") != std::string::npos);
    }
  }
  CHECK_FALSE(use_of_port("127.0.0.1", port).taken);
  CHECK(use_of_port("127.0.0.1", port).reason.empty());
  const PortUse elsewhere = use_of_port("192.0.2.1", port);
  CHECK_FALSE(elsewhere.taken);
  CHECK_FALSE(elsewhere.reason.empty());
}

TEST_CASE("machine: a folder that can be written, made, or neither") {
  const test::TempFolder folder;
  CHECK(is_writable_folder(folder.path()));
  CHECK(is_writable_folder(folder.path() / "a" / "b"));
  const fs::path file = folder.file("file");
  CHECK_FALSE(is_writable_folder(file));
  CHECK_FALSE(is_writable_folder(file / "below"));
}

TEST_CASE("machine: files are tried with the rights of another user, which end with it") {
  const test::TempFolder folder;
  const fs::path file = folder.file("secret");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(folder.path(), fs::perms::all);
  const uid_t before = ::geteuid();
  {
    const AsUser as("nobody");
    CHECK(is_readable(file) == (before != 0));  // only root may become another
    CHECK((as.name() == "nobody") == (before == 0));
  }
  CHECK(::geteuid() == before);
  CHECK(is_readable(file));
  const AsUser nobody("there is no such user");
  CHECK(is_readable(file));
}

TEST_CASE("machine: names lead to addresses") {
  const auto found = addresses_of("127.0.0.1");
  REQUIRE(found.has_value());
  CHECK(found->front() == "127.0.0.1");
  CHECK_FALSE(addresses_of("no such host").has_value());
  CHECK(std::ranges::count(own_addresses(), "127.0.0.1") > 0);
  CHECK(is_loopback("127.0.1.1"));
  CHECK_FALSE(is_loopback("10.0.0.1"));
}

}  // namespace
}  // namespace l4::commands::setup
