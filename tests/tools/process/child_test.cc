#include "tools/process/child.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "tests/temp_folder.h"

namespace l4::process {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string waited_ending(Child& child) {
  constexpr int kTries = 2'000;
  for (int i = 0; i < kTries; ++i) {
    if (const auto ending = child.ending()) return *ending;
    std::this_thread::sleep_for(Millis{5});
  }
  return "runs on";
}

TEST_CASE("child: writes into its file, and how it ended is told") {
  const test::TempFolder folder;
  const auto log = folder.path() / "log";
  auto child = Child::start({"/bin/sh", {"-c", "echo out; echo err >&2; exit 7"}, log});
  REQUIRE(child);
  CHECK(waited_ending(*child) == "with exit status 7");
  CHECK(child->pid() == -1);
  CHECK(content(log) == "out\nerr\n");
  child = Child::start({"/bin/sh", {"-c", "kill -SEGV $$"}, log});
  REQUIRE(child);
  CHECK(waited_ending(*child).starts_with("by signal 11 ("));
}

TEST_CASE("child: a program that cannot run says why") {
  const test::TempFolder folder;
  const auto log = folder.path() / "log", script = folder.file("script", "no program");
  const auto gone = Child::start({folder.path() / "gone", {}, log});
  REQUIRE_FALSE(gone);
  CHECK(gone.error().where == (folder.path() / "gone").string());
  CHECK(gone.error().reason == "No such file or directory");
  const auto refused = Child::start({script, {}, log});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().reason == "Permission denied");
  const auto nowhere = Child::start({"/bin/true", {}, folder.path() / "no" / "log"});
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().where == (folder.path() / "no" / "log").string());
}

TEST_CASE("child: ends when it is asked to, and else is killed, also by its owner's end") {
  const test::TempFolder folder;
  const auto log = folder.path() / "log";
  const auto started = [&](const char* script) {
    auto child = Child::start({"/bin/sh", {"-c", script}, log});
    REQUIRE(child);
    while (content(log).empty()) std::this_thread::sleep_for(Millis{5});
    std::filesystem::remove(log);
    return std::move(*child);
  };
  Child meek = started("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
  CHECK_FALSE(meek.ending());
  meek.stop(Millis{20'000});
  CHECK(meek.ending() == "with exit status 3");
  Child deaf = started("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  deaf.stop(Millis{60});
  CHECK(deaf.ending()->starts_with("by signal 9 ("));
  pid_t pid = -1;
  {
    Child owned = started("echo ready; exec sleep 1000");
    pid = owned.pid();
    Child other = std::move(owned);
    CHECK(::kill(pid, 0) == 0);
  }
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("child: gets no signals of the terminal, and ends with the thread that started it") {
  const test::TempFolder folder;
  const auto log = folder.path() / "log";
  pid_t pid = -1;
  std::optional<Child> owner;  // outlives the thread
  std::thread([&] {
    auto child = Child::start({"/bin/sleep", {"1000"}, log});
    REQUIRE(child);
    pid = child->pid();
    CHECK(::getsid(pid) == pid);
    owner.emplace(std::move(*child));
  }).join();
  REQUIRE(owner);
  CHECK(waited_ending(*owner).starts_with("by signal 9 ("));
}

TEST_CASE("child: programs are found beside this one and in PATH") {
  CHECK(find_program("l4_tests").filename() == "l4_tests");
  CHECK(find_program("sh").filename() == "sh");
  CHECK(find_program("no-such-program-7").empty());
}

}  // namespace
}  // namespace l4::process
