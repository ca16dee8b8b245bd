#include "aggregator/flows/slow_steps.h"

#include <doctest/doctest.h>

#include <cmath>

namespace l4::flows {
namespace {

/// Some usual steps with a scatter of half a percent.
SlowSteps usual(int steps) {
  SlowSteps slow;
  for (int i = 0; i < steps; ++i) CHECK_FALSE(slow.judge(5 * (1 + 0.005 * std::sin(i * 1.7))));
  return slow;
}

}  // namespace

TEST_CASE("a step that is clearly longer is slow, and does not become usual") {
  SlowSteps slow = usual(30);
  for (int i = 0; i < 100; ++i) CHECK(slow.judge(5.6));
  CHECK(slow.usual() == doctest::Approx(5).epsilon(0.01));
  CHECK_FALSE(slow.judge(5.05));
}

TEST_CASE("without enough steps before, or a steady clock, none is slow") {
  SlowSteps few = usual(SlowSteps::kBeforeMin - 1);
  CHECK_FALSE(few.judge(50));
  SlowSteps unsteady;
  for (int i = 0; i < 30; ++i) CHECK_FALSE(unsteady.judge(5 * (1 + 0.1 * std::sin(i * 1.7))));
  CHECK_FALSE(unsteady.judge(8));
}

}  // namespace l4::flows
