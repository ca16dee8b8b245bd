#include "aggregator/alert/command.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/temp_folder.h"

namespace l4::alert {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("command: its input is the alert, and it inherits no environment") {
  const test::TempFolder folder;
  const auto out = folder.path() / "out";
  ::setenv("L4_SECRET", "x", 1);
  const std::string large(300'000, 'a');
  const std::string script = "cat > \"$1\"; env > \"$1.env\"; ls /proc/self/fd > \"$1.fd\"";
  CHECK(run_command({"/bin/sh", "-c", script, "sh", out.string()}, large, Millis{20'000}, {}));
  CHECK(content(out) == large);
  const std::string environment = content(out.string() + ".env");
  CHECK(environment.find("PATH=") != std::string::npos);
  CHECK(environment.find("L4_SECRET") == std::string::npos);
  CHECK(content(out.string() + ".fd") == "0\n1\n2\n3\n");  // 3: the folder that ls lists
  ::unsetenv("L4_SECRET");
}

TEST_CASE("command: it need not read its input") {
  CHECK(run_command({"/bin/true"}, std::string(1 << 20, 'a'), Millis{20'000}, {}));
}

TEST_CASE("command: the error names how it failed") {
  const auto status = run_command({"/bin/sh", "-c", "exit 3"}, "", Millis{20'000}, {});
  REQUIRE_FALSE(status);
  CHECK(status.error().text() == "/bin/sh: ended with status 3");
  const auto missing = run_command({"/no/such/program"}, "", Millis{20'000}, {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().text().find("No such file") != std::string::npos);
}

TEST_CASE("command: it is killed in time with all its children") {
  const test::TempFolder folder;
  const auto mark = folder.path() / "mark";
  const std::string script = "(sleep 2; echo late > \"$1\") & sleep 60";
  const auto began = std::chrono::steady_clock::now();
  const auto slow =
      run_command({"/bin/sh", "-c", script, "sh", mark.string()}, "", Millis{200}, {});
  REQUIRE_FALSE(slow);
  CHECK(slow.error().reason == "killed after 200 ms");
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
  CHECK_FALSE(std::filesystem::exists(mark));
}

TEST_CASE("command: it is killed when the aggregator stops") {
  std::stop_source stop;
  std::jthread stops([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
  });
  const auto killed = run_command({"/bin/sleep", "60"}, "", Millis{60'000}, stop.get_token());
  REQUIRE_FALSE(killed);
  CHECK(killed.error().reason.find("stops") != std::string::npos);
}

}  // namespace
}  // namespace l4::alert
