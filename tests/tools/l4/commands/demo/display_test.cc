#include "tools/l4/commands/demo/display.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>

namespace l4::commands::demo {
namespace {

// What comes within ten seconds, up to the length of what is expected. The kernel hands a
// terminal's text over in parts, and later than the write returns.
std::string read_like(int from, const std::string& expected) {
  std::string all;
  std::array<char, 4096> part{};
  pollfd ready{.fd = from, .events = POLLIN, .revents = 0};
  while (all.size() < expected.size() && ::poll(&ready, 1, 10'000) == 1) {
    const ssize_t size = ::read(from, part.data(), part.size());
    if (size <= 0) break;
    all.append(part.data(), static_cast<std::size_t>(size));
  }
  return all;
}

void check_reads(int from, const std::string& expected) {
  CHECK(read_like(from, expected) == expected);
}

TEST_CASE("demo display: in a pipe no block is shown, and a reader that goes away is noticed") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Display display(ends[1]);
  CHECK_FALSE(display.is_live());
  CHECK(display.style().width == 100);
  CHECK_FALSE(display.style().color);
  display.show("a block\n");
  display.say("a line\n");
  check_reads(ends[0], "a line\n");
  ::close(ends[0]);
  CHECK_FALSE(display.is_gone());
  display.say("nobody reads this\n");
  CHECK(display.is_gone());
  ::close(ends[1]);
  std::signal(SIGPIPE, before);
}

TEST_CASE("demo display: on a terminal the block is rewritten below what was said") {
  const char* given = ::getenv("TERM");
  const std::string former = given != nullptr ? given : "";
  ::setenv("TERM", "xterm", 1);
  const int owner = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(owner >= 0);
  REQUIRE(::grantpt(owner) == 0);
  REQUIRE(::unlockpt(owner) == 0);
  const int terminal = ::open(::ptsname(owner), O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  Display display(terminal);
  CHECK(display.is_live());
  display.show("one\ntwo\n");
  check_reads(owner, "one\r\ntwo\r\n");
  display.show("one\ntwo\n");  // nothing new
  display.say("said\n");
  check_reads(owner, "\r\x1b[2A\x1b[Jsaid\r\none\r\ntwo\r\n");
  display.show("three\n");
  check_reads(owner, "\r\x1b[2A\x1b[Jthree\r\n");
  display.show("");
  check_reads(owner, "\r\x1b[1A\x1b[J");
  ::close(owner);
  display.say("nobody reads this\n");
  CHECK(display.is_gone());
  ::close(terminal);
  given != nullptr ? ::setenv("TERM", former.c_str(), 1) : ::unsetenv("TERM");
}

}  // namespace
}  // namespace l4::commands::demo
