// A folder has one holder, and a holder that is killed leaves nothing behind.
#include "common/base/folder_lock.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "tests/temp_folder.h"

namespace l4 {
namespace {

TEST_CASE("folder lock: who comes second is told who holds it") {
  const test::TempFolder folder;
  auto first = FolderLock::take(folder.path(), "the test");
  REQUIRE(first);
  const std::string holder = "pid " + std::to_string(::getpid()) + ", the test";
  std::optional<FolderLock> kept(std::move(*first));
  for (int i = 0; i < 2; ++i) {  // being refused changes nothing
    const auto second = FolderLock::take(folder.path(), "another");
    REQUIRE_FALSE(second);
    CHECK(second.error().in_use);
    CHECK(second.error().error.where == folder.path());
    CHECK(second.error().error.reason == "the state folder is in use by " + holder);
  }
  kept.reset();
  CHECK(FolderLock::take(folder.path(), "another"));
}

TEST_CASE("folder lock: what an earlier holder left is no lock") {
  const test::TempFolder folder;
  const auto file = folder.file("lock", "pid 1, somebody with a long name\n");
  const auto lock = FolderLock::take(folder.path(), "me");
  REQUIRE(lock);
  std::ifstream in(file);
  CHECK(std::string{std::istreambuf_iterator<char>(in), {}} ==
        "pid " + std::to_string(::getpid()) + ", me\n");
}

TEST_CASE("folder lock: goes with a process that is killed") {
  const test::TempFolder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FolderLock::take(folder.path(), "the child");
    static_cast<void>(::write(ready[1], lock ? "y" : "n", 1) < 0);
    for (;;) ::pause();
  }
  REQUIRE(child > 0);
  char is_held = 0;
  REQUIRE(::read(ready[0], &is_held, 1) == 1);
  CHECK(is_held == 'y');
  const auto before = FolderLock::take(folder.path(), "me");
  REQUIRE_FALSE(before);
  CHECK(before.error().error.reason.ends_with(std::to_string(child) + ", the child"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(FolderLock::take(folder.path(), "me"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("folder lock: a holder that was killed is waited for until its files are closed") {
  const test::TempFolder folder;
  const auto file = folder.file("lock", "");
  // A process that has ended is named; another one still has the open file, for a moment.
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  REQUIRE(::waitpid(gone, nullptr, 0) == gone);
  std::ofstream(file) << "pid " << gone << ", the killed one\n";
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    static_cast<void>(::write(ready[1], ::flock(handle, LOCK_EX) == 0 ? "y" : "n", 1) < 0);
    ::usleep(100'000);
    ::_exit(0);
  }
  REQUIRE(child > 0);
  char is_held = 0;
  REQUIRE(::read(ready[0], &is_held, 1) == 1);
  CHECK(is_held == 'y');
  CHECK(FolderLock::is_held(folder.path()));
  CHECK(FolderLock::take(folder.path(), "me"));
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("folder lock: no folder is another refusal than one in use") {
  const test::TempFolder folder;
  const auto lock = FolderLock::take(folder.path() / "missing", "me");
  REQUIRE_FALSE(lock);
  CHECK_FALSE(lock.error().in_use);
  CHECK(lock.error().error.reason.starts_with("cannot open the lock: "));
}

TEST_CASE("folder lock: is held without a descriptor to write with") {
  const test::TempFolder folder;
  const auto lock = FolderLock::take(folder.path(), "me");
  REQUIRE(lock);
  const auto file = std::filesystem::canonical(folder.path() / "lock");
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::error_code gone;
    const auto name = entry.path().filename();
    if (std::filesystem::read_symlink("/proc/self/fd" / name, gone) != file) continue;
    std::ifstream in(entry.path());
    const std::string facts{std::istreambuf_iterator<char>(in), {}};
    const auto flags = facts.find("flags:\t");
    REQUIRE(flags != std::string::npos);
    CHECK((std::stoul(facts.substr(flags + 7), nullptr, 8) & 3u) == 0);  // O_RDONLY
  }
}

}  // namespace
}  // namespace l4
