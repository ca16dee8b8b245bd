#include "common/metrics/metrics.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace l4::metrics {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("metrics: counters and gauges are rendered with help and type") {
  Metrics metrics;
  auto batches = metrics.counter("l4_aggregator_batches_total", "Batches applied");
  auto open = metrics.gauge("l4_aggregator_jobs", "Jobs", {{"state", "hung"}});
  batches.add();
  batches.add(2);
  open.set(7);
  open.add(-2.5);
  const std::string text = metrics.render();
  CHECK(has_line(text, "# HELP l4_aggregator_batches_total Batches applied"));
  CHECK(has_line(text, "# TYPE l4_aggregator_batches_total counter"));
  CHECK(has_line(text, "l4_aggregator_batches_total 3"));
  CHECK(has_line(text, "# TYPE l4_aggregator_jobs gauge"));
  CHECK(has_line(text, "l4_aggregator_jobs{state=\"hung\"} 4.5"));
  CHECK(text.find("batches_total") < text.find("aggregator_jobs"));
}

TEST_CASE("metrics: a counter reaches what was counted elsewhere and never falls") {
  Metrics metrics;
  auto counter = metrics.counter("l4_x_total", "x");
  counter.reach(10);
  counter.reach(4);
  CHECK(has_line(metrics.render(), "l4_x_total 10"));
  metrics.counter("l4_x_total", "x").reach(12);
  CHECK(has_line(metrics.render(), "l4_x_total 12"));
}

TEST_CASE("metrics: what Prometheus does not allow is a broken invariant") {
  Metrics metrics;
  CHECK_THROWS_AS(metrics.counter("no name", "x"), std::invalid_argument);
  CHECK_THROWS_AS(metrics.gauge("l4_a", "x", {{"bad-label", "x"}}), std::invalid_argument);
  metrics.counter("l4_b_total", "x");
  CHECK_THROWS_AS(metrics.gauge("l4_b_total", "x"), std::invalid_argument);
}

TEST_CASE("metrics: text from outside stays in its place") {
  Metrics metrics;
  metrics.gauge("l4_a", "x", {{"version", "1\"\n2\\"}}).set(1);
  CHECK(has_line(metrics.render(), "l4_a{version=\"1\\\"\\n2\\\\\"} 1"));
}

TEST_CASE("metrics: series are bounded, and those left out are counted") {
  Metrics metrics;
  for (int i = 0; i < 100; ++i)
    metrics.counter("l4_a_total", "x", {{"node", std::to_string(i)}}).add();
  for (int i = 0; i < 2000; ++i) metrics.gauge("l4_g" + std::to_string(i), "x").set(1);
  const std::string text = metrics.render();
  CHECK(has_line(text, "l4_a_total{node=\"63\"} 1"));
  CHECK(text.find("node=\"64\"") == std::string::npos);
  CHECK(has_line(text, "l4_g510 1"));
  CHECK_FALSE(has_line(text, "l4_g511 1"));
  CHECK(has_line(text, "l4_metrics_left_out 548"));
}

TEST_CASE("metrics: a name may be allowed more series than others, and not more than that") {
  Metrics metrics;
  metrics.allow("l4_a", 100);
  for (int i = 0; i < 102; ++i) {
    metrics.gauge("l4_a", "x", {{"job_id", std::to_string(i)}}).set(1);
    metrics.gauge("l4_b", "x", {{"job_id", std::to_string(i)}}).set(1);
  }
  const std::string text = metrics.render();
  CHECK(has_line(text, "l4_a{job_id=\"99\"} 1"));
  CHECK(text.find("l4_a{job_id=\"100\"}") == std::string::npos);
  CHECK(text.find("l4_b{job_id=\"64\"}") == std::string::npos);
  CHECK(has_line(text, "l4_metrics_left_out 40"));
}

TEST_CASE("metrics: are used by several threads") {
  Metrics metrics;
  {
    const auto count = [&] {
      for (int i = 0; i < 1000; ++i) metrics.counter("l4_a_total", "x").add();
    };
    std::jthread one(count), two(count);
    metrics.render();
  }
  CHECK(has_line(metrics.render(), "l4_a_total 2000"));
}

}  // namespace
}  // namespace l4::metrics
