#include "aggregator/detect/nics/course.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace l4::detect::nics {
namespace {

/// Tenths of a job whose steps of `period_s` end in a burst of `burst_s`, with `jitter` of a step.
std::vector<float> bursts(double period_s, double burst_s, double span_s, double jitter = 0,
                          unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> wobble(0, jitter * period_s);
  std::vector<float> tenths(static_cast<std::size_t>(span_s * 10), 0.0F);
  for (double end = period_s; end < span_s; end += std::max(period_s + wobble(random), burst_s)) {
    for (double at = end - burst_s; at < end; at += 0.01)
      if (at >= 0 && at < span_s) tenths[static_cast<std::size_t>(at * 10)] += 1e6F;
  }
  return tenths;
}

TEST_CASE("course: the period of steps is found to a part of a tenth of a second") {
  for (const double period : {0.83, 1.37, 2.0, 3.71, 7.93, 14.2}) {
    const auto found = period_of(bursts(period, 0.3 * period, 300));
    REQUIRE(found);
    CHECK(found->seconds == doctest::Approx(period).epsilon(.003));
  }
}

TEST_CASE("course: steps that vary have the period of their mean") {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const auto found = period_of(bursts(2.2, 0.5, 120, .02, seed));
    REQUIRE(found);
    CHECK(found->seconds == doctest::Approx(2.2).epsilon(.01));
  }
}

TEST_CASE("course: short bursts of steps that vary much have their mean, too") {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    const auto tenths = bursts(3.2, 0.2, 100, .08, seed);
    std::vector<double> ends;
    for (std::size_t i = 1; i < tenths.size(); ++i)
      if (tenths[i - 1] > 0 && tenths[i] == 0) ends.push_back(static_cast<double>(i));
    const double mean = (ends.back() - ends.front()) / static_cast<double>(ends.size() - 1) / 10;
    const auto found = period_of(tenths);
    REQUIRE(found);
    CHECK(found->seconds == doctest::Approx(mean).epsilon(.01));
  }
}

TEST_CASE("course: steps that are longer and shorter in turn are single steps") {
  for (const double part : {0.1, 0.15, 0.2}) {
    CAPTURE(part);
    std::vector<float> tenths(300, 0.0F);
    int step = 0;
    for (double end = 1.0; end < 30; end += step++ % 2 == 0 ? 1 + part : 1 - part)
      for (double at = end - 0.2; at < end; at += 0.01)
        tenths[static_cast<std::size_t>(at * 10)] += 1e6F;
    const auto found = period_of(tenths);
    REQUIRE(found);
    CHECK(found->seconds == doctest::Approx(1.0).epsilon(.02));
  }
}

TEST_CASE("course: several bursts in a step are one step") {
  auto tenths = bursts(4.0, 0.8, 200);
  const auto inner = bursts(4.0, 0.4, 200);
  for (std::size_t i = 0; i + 15 < tenths.size(); ++i) tenths[i] += 0.7F * inner[i + 15];
  const auto found = period_of(tenths);
  REQUIRE(found);
  CHECK(found->seconds == doctest::Approx(4.0).epsilon(.005));
}

TEST_CASE("course: holes in the measurement do not hide the period") {
  auto tenths = bursts(1.9, 0.6, 200);
  for (std::size_t i = 0; i < tenths.size(); ++i)
    if (i % 200 > 130) tenths[i] = Course::kUnknown;
  const auto found = period_of(tenths);
  REQUIRE(found);
  CHECK(found->seconds == doctest::Approx(1.9).epsilon(.01));
}

TEST_CASE("course: noise, silence and a steady stream have no period") {
  std::mt19937_64 random(7);
  std::vector<float> noise(2000);
  for (float& tenth : noise) tenth = static_cast<float>(random() % 1000);
  CHECK_FALSE(period_of(noise));
  CHECK_FALSE(period_of(std::vector<float>(2000, 0.0F)));
  CHECK_FALSE(period_of(std::vector<float>(2000, 5e6F)));
  CHECK_FALSE(period_of(std::vector<float>(2000, Course::kUnknown)));
  CHECK_FALSE(period_of({}));
}

TEST_CASE("course: seconds become tenths of bytes; a missing second is not known") {
  cards::NicHistory nic;
  cards::NicSecond one;
  one.second = 100;
  one.sent = 300;
  one.received = 600;
  one.tenths.set(2, 62);
  one.tenths.set(3, 31);
  one.tenths.set(9, wire::Tenths::kUnknown);
  nic.seconds.push_back(one);
  one.second = 102;
  nic.seconds.push_back(one);
  const Course course = course_of(nic, TimeMs{}, 600);
  CHECK(course.begin == TimeMs{std::chrono::seconds{100}});
  REQUIRE(course.tenths.size() == 30);
  CHECK(course.tenths[2] == doctest::Approx(600));
  CHECK(course.tenths[3] == doctest::Approx(300));
  CHECK(course.tenths[4] == 0);
  CHECK(course.tenths[9] == Course::kUnknown);
  CHECK(course.tenths[15] == Course::kUnknown);
  CHECK(course_of(nic, TimeMs{std::chrono::seconds{102}}, 600).tenths.size() == 10);
  CHECK(course_of(nic, TimeMs{}, 1).tenths.size() == 10);
}

}  // namespace
}  // namespace l4::detect::nics
