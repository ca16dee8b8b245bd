// Texts that are written once, and those that are written each time.
#include "agent/daemon/own_log.h"

#include <doctest/doctest.h>

#include "tests/captured_stderr.h"

namespace l4::daemon {
namespace {

TEST_CASE("own log: the same is said once in ten minutes, with its weight, and counted") {
  const test::CapturedStderr err;
  OwnLog log(true);
  CHECK(log.write(OwnLog::Weight::warning, "trouble", Millis{0}));
  CHECK_FALSE(log.write(OwnLog::Weight::warning, "trouble", Millis{1'000}));
  CHECK_FALSE(log.write(OwnLog::Weight::warning, "trouble", Millis{599'999}));
  CHECK(log.write(OwnLog::Weight::error, "worse", Millis{599'999}));
  CHECK(log.write(OwnLog::Weight::warning, "trouble", Millis{600'000}));
  CHECK(err.text() == "<4>trouble\n<3>worse\n<4>trouble (said 2 times more)\n");
}

TEST_CASE("own log: that trouble is over is said each time") {
  const test::CapturedStderr err;
  OwnLog log(true);
  log.info("well", Millis{0});
  log.recovered("well", Millis{1'000});
  log.recovered("well", Millis{2'000});
  log.info("well", Millis{3'000});
  CHECK(err.text() == "<6>well\n<6>well\n<6>well\n");
}

}  // namespace
}  // namespace l4::daemon
