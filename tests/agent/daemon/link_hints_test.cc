#include "agent/daemon/link_hints.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "tests/captured_stderr.h"

namespace l4::daemon {
namespace {

TEST_CASE("link hints: a name that cannot be resolved is said while there is no connection") {
  const test::CapturedStderr said;
  OwnLog log(false);
  // A label of more than 63 characters is refused without asking a server.
  const std::string host = std::string(70, 'x') + ".invalid";
  LinkHints hints("tcp://" + host + ":7430", log, Millis{0});
  hints.poll(false, {}, Millis{4'000});
  CHECK(said.text().empty());
  for (int i = 0; i < 500 && said.text().empty(); ++i) {
    hints.poll(false, {}, Millis{5'000});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(said.count(":7430: the name " + host + " cannot be resolved: ") == 1);
  CHECK(said.count("[link] aggregator") == 1);
}

TEST_CASE("link hints: addresses are not looked up, and neither is a name once connected") {
  const test::CapturedStderr said;
  OwnLog log(false);
  LinkHints address("tcp://[::1]:7430", log, Millis{0});
  address.poll(false, {}, Millis{60'000});
  address.poll(false, {}, Millis{60'001});
  LinkHints connected("tcp://no-such-host.invalid:7430", log, Millis{0});
  connected.poll(true, {}, Millis{60'000});
  connected.poll(true, {}, Millis{60'001});
  CHECK(said.text().empty());
}

TEST_CASE("link hints: a clock that is off by minutes is said once, and its end") {
  const test::CapturedStderr said;
  OwnLog log(false);
  LinkHints hints("tcp://127.0.0.1:7430", log, Millis{0});
  hints.poll(true, Millis{59'000}, Millis{1'000});
  CHECK(said.text().empty());
  for (int i = 0; i < 3; ++i) hints.poll(true, Millis{600'000}, Millis{2'000});
  CHECK(said.count("is 10 min 0 s behind the aggregator's") == 1);
  hints.poll(true, Millis{10}, Millis{3'000});
  CHECK(said.count("agrees with the aggregator's again") == 1);
  hints.poll(true, Millis{-120'000}, Millis{4'000});
  CHECK(said.count("is 2 min 0 s ahead of the aggregator's") == 1);
}

}  // namespace
}  // namespace l4::daemon
