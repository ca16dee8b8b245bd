#include "common/base/check.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace l4 {
namespace {

enum class Fruit : std::uint8_t { apple = 3 };

struct Death {
  int signal = 0;
  std::string text;  ///< of stderr
};

/// Runs the function in a child process.
template <class Function>
Death death_of(Function function) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGABRT, SIG_DFL);  // doctest handles it
    ::dup2(ends[1], STDERR_FILENO);
    function();
    ::_exit(0);
  }
  ::close(ends[1]);
  Death death;
  std::array<char, 512> part{};
  for (ssize_t got; (got = ::read(ends[0], part.data(), part.size())) > 0;)
    death.text.append(part.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
  return death;
}

}  // namespace

TEST_CASE("check: a condition that holds evaluates no value") {
  int evaluated = 0;
  L4_CHECK(1 + 1 == 2, "never printed: {}", ++evaluated);
  CHECK(evaluated == 0);
  CHECK(death_of([] { L4_CHECK(true, "fine"); }).signal == 0);
}

TEST_CASE("check: a failed one names file, line, condition and values, and aborts") {
  static constexpr std::uint64_t kMany = std::uint64_t{1} << 63;
  int line = 0;
  const auto fail = [] { L4_CHECK(2 < 1, "rank {} of {}: {}", Rank{7}, kMany, Fruit::apple); };
  line = __LINE__ - 1;
  const Death death = death_of(fail);
  CHECK(death.signal == SIGABRT);
  CHECK(death.text == std::string(__FILE__) + ":" + std::to_string(line) +
                          ": check failed: 2 < 1: rank 7 of 9223372036854775808: 3\n");
}

TEST_CASE("check: values without a place in the sentence follow it") {
  const Death death =
      death_of([] { L4_CHECK(false, "odd {}", -1, TimeMs(Millis{5}), true, "a text"); });
  CHECK(death.text.ends_with(": check failed: false: odd -1 5 true \"a text\"\n"));
  CHECK(death_of([] { L4_CHECK(false, "none {}"); }).text.ends_with(": false: none {}\n"));
}

}  // namespace l4
