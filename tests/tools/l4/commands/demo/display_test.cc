#include "tools/l4/commands/demo/display.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>

namespace l4::commands::demo {
namespace {

std::string read_some(int from) {
  std::array<char, 4096> text{};
  const ssize_t size = ::read(from, text.data(), text.size());
  return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
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
  CHECK(read_some(ends[0]) == "a line\n");
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
  CHECK(read_some(owner) == "one\r\ntwo\r\n");
  display.show("one\ntwo\n");  // nothing new
  display.say("said\n");
  CHECK(read_some(owner) == "\r\x1b[2A\x1b[Jsaid\r\none\r\ntwo\r\n");
  display.show("three\n");
  CHECK(read_some(owner) == "\r\x1b[2A\x1b[Jthree\r\n");
  display.show("");
  CHECK(read_some(owner) == "\r\x1b[1A\x1b[J");
  ::close(owner);
  display.say("nobody reads this\n");
  CHECK(display.is_gone());
  ::close(terminal);
  given != nullptr ? ::setenv("TERM", former.c_str(), 1) : ::unsetenv("TERM");
}

}  // namespace
}  // namespace l4::commands::demo
