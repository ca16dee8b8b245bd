#include "aggregator/detect/temporal/temporal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "aggregator/detect/temporal/recorded_job.h"

using namespace l4::detect::temporal;

namespace {

struct Shape {
  std::size_t ranks = 8;
  std::int64_t iterations = 200;
  std::uint32_t lines = 8;    // lines of every rank in every iteration
  bool rank_0_alone = false;  // prints checkpoint and evaluation lines
  bool roles = true;          // rank 0 and the last rank have a line of their own at the end
  // Chance of a stray line, and of swapped neighbours; line 4 is lost five times as often.
  double noise = 0;
  std::uint64_t seed = 1;
};

void insert_lines(Sequence& to, std::initializer_list<Symbol> lines) {
  to.insert(to.end() - 1, lines.begin(), lines.end());
}

Sequence healthy_iteration(const Shape& shape, std::size_t rank, std::int64_t iteration,
                           std::mt19937_64& random) {
  Sequence events;
  for (std::uint32_t line = 0; line < shape.lines; ++line) events.push_back(line);
  const bool speaks = rank == 0 || !shape.rank_0_alone;
  if (shape.lines > 1 && speaks && iteration % 50 == 0) insert_lines(events, {100, 101, 102});
  if (shape.lines > 1 && speaks && iteration % 60 == 0) insert_lines(events, {110, 111});
  if (shape.roles && shape.lines > 1 && rank == 0) events.push_back(120);
  if (shape.roles && shape.lines > 1 && rank + 1 == shape.ranks) events.push_back(121);
  const auto chance = [&] { return std::uniform_real_distribution<>()(random) < shape.noise; };
  const std::ptrdiff_t lost = 4;
  if (std::uniform_real_distribution<>()(random) < 5 * shape.noise)
    events.erase(events.begin() + lost);
  if (chance()) {
    const auto place = static_cast<std::ptrdiff_t>(random() % events.size());
    events.insert(events.begin() + place, 130 + static_cast<Symbol>(random() % 3));
  }
  if (chance()) {
    const std::size_t place = random() % (events.size() - 1);
    std::swap(events[place], events[place + 1]);
  }
  return events;
}

RecordedJob healthy_job(const Shape& shape) {
  std::mt19937_64 random(shape.seed);
  RecordedJob job;
  job.streams.resize(shape.ranks);
  for (std::int64_t iteration = 1; iteration <= shape.iterations; ++iteration) {
    const bool pause = iteration % 50 == 0 || iteration % 60 == 0;
    for (std::size_t rank = 0; rank < shape.ranks; ++rank) {
      const double seconds =
          (pause ? 9.0 : 2.0) * std::exp(std::normal_distribution<>(0, 0.01)(random));
      job.streams[rank].push_back(
          {iteration, healthy_iteration(shape, rank, iteration, random), seconds});
    }
  }
  return job;
}

/// The rank stops inside its iteration, the others print one more.
RecordedJob cut_job(const Shape& shape, std::size_t rank, std::size_t lines) {
  RecordedJob job = healthy_job(shape);
  auto& iterations = job.streams[rank];
  iterations.pop_back();
  auto& events = iterations.back().events;
  events.resize(events.size() - lines);
  iterations.back().seconds = kUnknownDuration;
  return job;
}

std::string describe(const TemporalFindings& found) {
  std::string text;
  for (const auto* list : {&found.alarms, &found.notes}) {
    for (const Anomaly& one : *list) {
      text += (list == &found.alarms ? "alarm " : "note ") +
              std::to_string(static_cast<int>(one.kind)) + " rank " + std::to_string(one.stream) +
              " iteration " + std::to_string(one.iteration) + " " + std::to_string(one.score) +
              " > " + std::to_string(one.threshold) + "\n";
    }
  }
  return text;
}

void expect_only(const TemporalFindings& found, std::size_t rank, std::int64_t iteration) {
  INFO(describe(found));
  REQUIRE(found.alarms.size() == 1);
  CHECK(found.alarms[0].kind == AnomalyKind::sequence);
  CHECK(found.alarms[0].stream == rank);
  CHECK(found.alarms[0].iteration == iteration);
  CHECK(found.alarms[0].score > found.alarms[0].threshold);
}

}  // namespace

TEST_CASE("a rank whose last lines are missing is flagged in that iteration, and nothing else") {
  for (std::size_t ranks : {4, 8, 64}) {
    for (std::int64_t iterations : {12, 13, 20, 49, 77, 130, 200}) {
      for (std::size_t lines : {1, 2, 3}) {
        const std::size_t rank = (static_cast<std::size_t>(iterations) * 7 + lines) % ranks;
        const Shape shape{.ranks = ranks, .iterations = iterations};
        CAPTURE(ranks);
        CAPTURE(iterations);
        CAPTURE(lines);
        const TemporalFindings found = score_job(cut_job(shape, rank, lines));
        expect_only(found, rank, iterations - 1);
        if (!found.alarms.empty()) CHECK(found.alarms[0].missing.size() == lines);
      }
    }
  }
}

TEST_CASE("a line that rank 0 alone prints is missed as well") {
  const TemporalFindings found = score_job(cut_job({.ranks = 8, .iterations = 40}, 0, 1));
  expect_only(found, 0, 39);
  CHECK(found.alarms[0].missing == std::vector<std::uint32_t>{120});
}

TEST_CASE("healthy twins are silent: checkpoints, evaluations, roles") {
  for (bool alone : {false, true}) {
    for (std::size_t ranks : {1, 4, 8, 64}) {
      for (std::int64_t iterations : {12, 51, 64, 130, 301}) {
        const Shape shape{.ranks = ranks, .iterations = iterations, .rank_0_alone = alone};
        RecordedJob job = healthy_job(shape);
        for (bool ended : {false, true}) {
          job.ended = ended;
          const TemporalFindings found = score_job(job);
          CAPTURE(ranks);
          CAPTURE(iterations);
          CAPTURE(alone);
          INFO(describe(found));
          CHECK(found.alarms.empty());
        }
      }
    }
  }
}

TEST_CASE("stray lines and swapped neighbours: hardly a false alarm, lost tails still found") {
  std::size_t false_alarms = 0, found_tails = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Shape shape{.ranks = 32, .iterations = 150, .noise = 0.01, .seed = seed};
    false_alarms += score_job(healthy_job(shape)).alarms.size();
    const TemporalFindings found = score_job(cut_job(shape, 5 + seed, 2));
    found_tails += std::ranges::any_of(found.alarms, [&](const Anomaly& one) {
      return one.stream == 5 + seed && one.iteration == 149;
    });
  }
  MESSAGE("false alarms in 1,500 iterations of 32 ranks: " << false_alarms << ", tails found "
                                                           << found_tails << " of 10");
  CHECK(false_alarms <= 15);
  CHECK(found_tails >= 9);
}

TEST_CASE("what would take too long is left out, oldest first") {
  const Shape shape{.ranks = 32, .iterations = 150, .noise = 0.01, .seed = 3};
  const RecordedJob job = cut_job(shape, 5, 2);
  const TemporalFindings whole = score_job(job);
  CHECK(whole.left_out == 0);
  TemporalOptions options;
  options.work_max = 60'000;
  const TemporalFindings part = score_job(job, options);
  CHECK(part.left_out > 0);
  CHECK(part.left_out < 140);
  CHECK(part.iterations.back().iteration == whole.iterations.back().iteration);
  CHECK(part.iterations.size() == whole.iterations.size() - part.left_out);
  CHECK(std::ranges::any_of(part.alarms, [](const Anomaly& one) { return one.stream == 5; }));
  options.work_max = 1;
  CHECK(score_job(job, options).alarms.empty());
}

TEST_CASE("one event per iteration says nothing") {
  RecordedJob job = healthy_job({.ranks = 8, .iterations = 120, .lines = 1});
  for (auto& stream : job.streams) {
    for (auto& one : stream) one.seconds = kUnknownDuration;
  }
  job.streams[3].pop_back();
  const TemporalFindings found = score_job(job);
  CHECK(found.alarms.empty());
  CHECK(found.notes.empty());
}

TEST_CASE("the last iteration is open until others have passed it or the job has ended") {
  RecordedJob job = healthy_job({.ranks = 8, .iterations = 40});
  job.streams[4].back().events.resize(5);
  CHECK(score_job(job).alarms.empty());
  job.ended = true;
  expect_only(score_job(job), 4, 40);
}

TEST_CASE("an extra line is a note, unless it is known to be suspicious") {
  RecordedJob job = healthy_job({.ranks = 8, .iterations = 90});
  auto& events = job.streams[6][70].events;
  events.insert(events.begin() + 3, 999);
  const TemporalFindings quiet = score_job(job);
  CHECK(quiet.alarms.empty());
  REQUIRE(std::ranges::count(quiet.notes, AnomalyKind::novelty, &Anomaly::kind) == 1);
  TemporalOptions options;
  options.suspicious = {999};
  const TemporalFindings loud = score_job(job, options);
  expect_only(loud, 6, 71);
  CHECK(loud.alarms[0].extra == std::vector<std::uint32_t>{999});
  CHECK(loud.alarms[0].missing.empty());
}

TEST_CASE("what all ranks do for the first time is a phase change, not a fault") {
  RecordedJob job = healthy_job({.ranks = 16, .iterations = 49});
  for (auto& stream : job.streams) {
    stream[40].events.insert(stream[40].events.end() - 1, {500, 501, 502});
  }
  const TemporalFindings found = score_job(job);
  INFO(describe(found));
  CHECK(found.alarms.empty());
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].kind == AnomalyKind::phase_change);
  CHECK(found.notes[0].stream == kAllStreams);
  CHECK(found.notes[0].iteration == 41);
  CHECK(found.notes[0].extra == std::vector<std::uint32_t>{500, 501, 502});
}

TEST_CASE("a slow rank is an alarm, a slow job is a note") {
  RecordedJob job = healthy_job({.ranks = 8, .iterations = 45});
  job.streams[2][30].seconds = 4;
  for (auto& stream : job.streams) stream[40].seconds = 5;
  const TemporalFindings found = score_job(job);
  INFO(describe(found));
  REQUIRE(found.alarms.size() == 1);
  CHECK(found.alarms[0].kind == AnomalyKind::duration);
  CHECK(found.alarms[0].stream == 2);
  CHECK(found.alarms[0].iteration == 31);
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].stream == kAllStreams);
  CHECK(found.notes[0].iteration == 41);
}

TEST_CASE("a part of a second more is jitter, however steady the iterations are") {
  RecordedJob job = healthy_job({.ranks = 8, .iterations = 45});
  for (auto& stream : job.streams)
    for (auto& one : stream) one.seconds = 0.1;
  job.streams[2][30].seconds = 0.9;
  CHECK(score_job(job).alarms.empty());
  job.streams[2][35].seconds = 1.2;
  CHECK(score_job(job).alarms.size() == 1);
}

TEST_CASE("observing iteration by iteration gives what the whole job gives") {
  Shape shape{.ranks = 6, .iterations = 80, .noise = 0.05};
  RecordedJob job = cut_job(shape, 3, 2);
  job.ended = true;
  const TemporalFindings whole = score_job(job);
  TemporalScorer scorer;
  TemporalFindings live;
  for (std::size_t i = 0; i < 80; ++i) {
    std::vector<Observation> round;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      if (i >= job.streams[rank].size()) continue;
      const StreamIteration& one = job.streams[rank][i];
      round.push_back({rank, one.events, one.seconds, false});
    }
    const TemporalFindings found = scorer.observe(static_cast<std::int64_t>(i) + 1, round);
    live.alarms.insert(live.alarms.end(), found.alarms.begin(), found.alarms.end());
    live.notes.insert(live.notes.end(), found.notes.begin(), found.notes.end());
  }
  CHECK(describe(live) == describe(whole));
  CHECK_FALSE(whole.alarms.empty());
}

TEST_CASE("empty, short and repeated input") {
  CHECK(score_job({}).alarms.empty());
  RecordedJob job;
  job.streams.resize(3);
  job.streams[1] = {{5, {}, 1.0}, {5, {1, 1, 1}, -1.0}};
  CHECK(score_job(job).iterations.size() == 2);
  TemporalOptions options;
  options.history_min = 0;
  options.shared = 0;
  CHECK(score_job(job, options).alarms.empty());
  RecordedJob lengthy = healthy_job({.ranks = 4, .iterations = 14});
  for (auto& stream : lengthy.streams) {
    for (auto& one : stream) {
      one.events.clear();
      for (std::uint32_t i = 0; i < 3'000; ++i) one.events.push_back(i % 700);
    }
  }
  lengthy.streams[2].pop_back();
  lengthy.streams[2].back().events.resize(2'000);
  lengthy.streams[2].back().events.push_back(7);
  CHECK(score_job(lengthy).iterations.size() == 14);
}
