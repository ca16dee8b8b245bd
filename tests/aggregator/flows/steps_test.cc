#include "aggregator/flows/steps.h"

#include <doctest/doctest.h>

#include <random>

namespace l4::flows {
namespace {

/// Steps of events with the given idle times before them, each 10 ms long, with 0.5 % of jitter.
std::vector<Beat> beats_of(const std::vector<double>& gaps_ms, std::size_t steps,
                           const std::vector<std::uint64_t>& sizes = {1'000'000}) {
  std::mt19937 random(7);
  std::normal_distribution<double> jitter(1, 0.005);
  std::vector<Beat> beats;
  TimeNs now = 0;
  for (std::size_t step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < gaps_ms.size(); ++i) {
      now += static_cast<TimeNs>(gaps_ms[i] * jitter(random) * 1e6);
      const TimeNs start = now;
      now += 10 * kMillisecond;
      beats.push_back({start, now, sizes[i % sizes.size()]});
    }
  return beats;
}

std::vector<Boundary> boundaries_of(const StepRule& rule, const std::vector<Beat>& beats) {
  StepCounter counter(rule);
  std::vector<Boundary> found;
  for (const Beat& beat : beats)
    if (const auto boundary = counter.add(beat)) found.push_back(*boundary);
  return found;
}

}  // namespace

TEST_CASE("steps of bursts end at the longest pause") {
  const auto beats = beats_of({900, 5, 5, 5, 5}, 30);
  const auto rule = learn_steps(beats, {});
  REQUIRE(rule);
  CHECK(rule->events == 5);
  CHECK(rule->is_bursty);
  const auto found = boundaries_of(*rule, beats);
  REQUIRE(found.size() == 30);
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].end == beats[i * 5 + 4].end);
    CHECK(found[i].complete);
  }
}

TEST_CASE("a pause within a step does not end it") {
  auto beats = beats_of({500, 5, 5, 5}, 40);
  for (std::size_t i = 30 * 4 + 2; i < beats.size(); ++i) {
    beats[i].start += 2 * kSecond;  // longer than the pause between steps
    beats[i].end += 2 * kSecond;
  }
  const auto rule = learn_steps(beats, {});
  REQUIRE(rule);
  const auto found = boundaries_of(*rule, beats);
  REQUIRE(found.size() == 40);
  CHECK(found[30].end == beats[30 * 4 + 3].end);
}

TEST_CASE("blocks of equal gaps end at the gap that no other resembles") {
  // 6 gathers, 6 pairs of gather and scatter; the pause between steps is shorter than half of them.
  std::vector<double> gaps{60, 80, 80, 80, 80, 80};
  std::vector<std::uint64_t> sizes{2'000'000, 1'000'000, 1'000'000,
                                   1'000'000, 1'000'000, 1'000'000};
  for (int i = 0; i < 6; ++i) {
    gaps.insert(gaps.end(), {i == 0 ? 80.0 : 0.1, 160});
    sizes.insert(sizes.end(), {1'000'000, 1'000'000});
  }
  const auto beats = beats_of(gaps, 30, sizes);
  const auto rule = learn_steps(beats, {});
  REQUIRE(rule);
  CHECK(rule->events == 18);
  const auto found = boundaries_of(*rule, beats);
  REQUIRE(found.size() >= 29);
  CHECK(found[0].end == beats[17].end);
}

TEST_CASE("micro-batches are not taken for steps") {
  const auto beats = beats_of({40, 30, 30, 30, 30, 30, 30, 30}, 40);  // two of four, one pause
  const auto rule = learn_steps(beats, {});
  REQUIRE(rule);
  CHECK(rule->events == 8);
}

TEST_CASE("a step of several micro-batches begins behind the optimizer") {
  // The pause before the first one, 62, is not longer than that between blocks, and resembles it.
  const auto beats =
      beats_of({62, 40, 40, 61, 0.1, 40, 40, 61}, 40, {2'000'000, 1'000'000, 1'000'000, 1'000'000});
  const auto rule = learn_steps(beats, {});
  REQUIRE(rule);
  CHECK(rule->events == 8);
  CHECK(boundaries_of(*rule, beats).at(0).end == beats[7].end);
}

TEST_CASE("a lost event does not shift later steps") {
  auto beats = beats_of({900, 5, 5, 5, 5}, 30);
  const auto rule = learn_steps(beats, {});
  REQUIRE(rule);
  beats.erase(beats.begin() + 12 * 5 + 2);
  const auto found = boundaries_of(*rule, beats);
  REQUIRE(found.size() == 30);
  CHECK_FALSE(found[12].complete);
  CHECK(found[12].end == beats[12 * 5 + 3].end);
  CHECK(found[13].complete);
}

TEST_CASE("events without a rhythm have no steps") {
  std::mt19937 random(3);
  std::uniform_int_distribution<TimeNs> gap(1, 500);
  std::vector<Beat> beats;
  TimeNs now = 0;
  for (int i = 0; i < 400; ++i) {
    now += gap(random) * kMillisecond;
    beats.push_back({now, now + kMillisecond, 1'000'000});
  }
  CHECK_FALSE(learn_steps(beats, {}));
  CHECK_FALSE(learn_steps({}, {}));
}

TEST_CASE("steps of a sharded job begin with its gathers, whatever the gaps are") {
  // Eight blocks: forwards a gather each, the first one larger; backwards a gather and a scatter,
  // of the last block larger ones. Gaps are those of computing; the longest lie in the way back.
  for (const std::uint64_t scatter : {1, 2}) {
    std::vector<double> gaps;
    std::vector<std::uint64_t> sizes;
    const auto event = [&](double gap, std::uint64_t size) {
      gaps.push_back(gap);
      sizes.push_back(size * 1'000'000);
    };
    for (int block = 0; block < 8; ++block) event(block == 0 ? 60 : 80, block == 0 ? 17 : 10);
    for (int block = 0; block < 8; ++block) {
      event(block == 0 ? 80 : 3, block == 7 ? 17 : 10);
      event(160 + 7 * block, (block == 7 ? 17 : 10) * scatter);
    }
    const auto beats = beats_of(gaps, 30, sizes);
    const auto rule = learn_steps(beats, {});
    REQUIRE(rule);
    REQUIRE(rule->events == 24);
    CHECK(rule->first % 24 == 0);
  }
}

}  // namespace l4::flows
