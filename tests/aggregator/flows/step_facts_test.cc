// What is kept of steps: small, and near enough.
#include "aggregator/flows/step_facts.h"

#include <doctest/doctest.h>

#include <cmath>

namespace l4::flows {

TEST_CASE("a short value is right to a thousandth, over sixty powers of two") {
  for (float value = 1e-9f; value < 1e9f; value *= 1.37f)
    for (const float signed_value : {value, -value}) {
      const float kept = Short(signed_value).value();
      CHECK(std::abs(kept - signed_value) <= 0.001f * value);
    }
  CHECK(Short(0).value() == 0);
  CHECK(Short().value() == 0);
  CHECK(Short(1e-12f).value() == 0);
  CHECK(Short(1e20f).value() > 1e9f);
  CHECK(!Short(kUnknown).is_known());
  CHECK(std::isnan(Short(kUnknown).value()));
  CHECK(Short(-1e20f).is_known());
}

TEST_CASE("shapes: the latest steps, with what their groups did, to a small part of the step") {
  ShapeRing ring(2, 3);
  for (TimeNs i = 0; i < 5; ++i) {
    JobStep step;
    step.begin = i * 4 * kSecond;
    step.end = step.begin + 4 * kSecond;
    step.groups.resize(2);
    step.groups[0].first_start = step.begin - kSecond;
    step.groups[0].end = step.end - 100 * kMillisecond;
    ring.push(step);
    if (i == 3) ring.mark_slow();
  }
  const auto shapes = ring.all();
  REQUIRE(shapes.size() == 3);
  for (TimeNs i = 0; i < 3; ++i) {
    const StepShape& shape = shapes[static_cast<std::size_t>(i)];
    CHECK(shape.begin == (i + 2) * 4 * kSecond);
    CHECK(shape.slow == (i == 1));
    REQUIRE(shape.groups.size() == 2);
    CHECK(std::abs(shape.groups[0].first - (shape.begin - kSecond)) < kMillisecond);
    CHECK(std::abs(shape.groups[0].second - (shape.end - 100 * kMillisecond)) < kMillisecond);
    CHECK(shape.groups[1].first == 0);  // it told none
    CHECK(shape.groups[1].second == 0);
  }
}

}  // namespace l4::flows
