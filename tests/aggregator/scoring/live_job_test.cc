// A running job between its diagnoses: nodes that differ ask for one, and what it says is told.
#include "aggregator/scoring/live_job.h"

#include <doctest/doctest.h>

#include <memory>

#include "aggregator/diagnose/clues/scale.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::scoring {
namespace {

using job::test::MadeJob;

constexpr std::int64_t kPace = 10'000, kIterations = 120;

/// 16 nodes; node 11 prints ten times as much from iteration 100 on.
MadeJob odd_job(bool odd) {
  MadeJob made(16);
  for (std::int64_t k = 1; k <= kIterations; ++k)
    for (int rank = 0; rank < made.ranks(); ++rank) {
      for (const char* line : {"lease renewed", "cache trimmed", "heap swept"})
        for (int i = 0; i < (odd && rank == 11 && k >= 100 ? 20 : 2); ++i)
          made.say(rank, {line, Level::info}, k * kPace - 4000);
      made.iterate(rank, k, k * kPace);
    }
  return made;
}

/// Four nodes that make iterations of 200 ms, of which the last takes `last_ms`.
MadeJob job_with_last(std::int64_t last_ms) {
  constexpr std::int64_t kQuick = 100;
  MadeJob made(4);
  made.iterate_all(1, kQuick, 200);
  for (int rank = 0; rank < made.ranks(); ++rank)
    made.iterate(rank, kQuick + 1, kQuick * 200 + last_ms);
  return made;
}

/// The batch with one of its segments; the first one has all that is defined.
wire::Batch part_of(const wire::Batch& whole, std::size_t segment) {
  wire::Batch part;
  if (segment == 0) part = whole;
  part.agent = whole.agent;
  part.job = "job";
  part.segments = {whole.segments[segment]};
  return part;
}

/// The job with all its lines, just diagnosed and at rest.
struct Rested {
  explicit Rested(bool odd, const JobOptions& options = {}) : job{"job", options, now} {
    std::uint64_t seq = 0;
    for (wire::Batch& batch : odd_job(odd).batches()) {
      batch.job = "job";
      job.apply(std::move(batch), store::Seq{++seq}, now);
    }
    changes = job.diagnose(now, now, nullptr);
    job.rest(now, Millis{10});
  }
  TimeMs now = job::test::after(kIterations * kPace + 500);
  LiveJob job;
  IncidentBook::Changes changes;
};

TEST_CASE("live job: a node that newly differs asks for a diagnosis at once") {
  Rested rested(true);
  LiveJob& job = rested.job;
  const TimeMs later = rested.now + Millis{1'000};
  CHECK_FALSE(job.poll(later, later));
  REQUIRE(job.wants_check(later));
  CHECK(job.check_nodes(later) == 1);
  job.rested_check(later, Millis{10});
  CHECK(job.poll(later, later));
  CHECK(job.is_urgent());
  CHECK_FALSE(job.wants_check(later + Millis{60'000}));  // no line has come since
}

TEST_CASE("live job: what network cards do asks for nothing and revives nothing, but is kept") {
  Rested rested(false);
  LiveJob& job = rested.job;
  const TimeMs arrival = job.last_arrival(), later = rested.now + Millis{30'000};
  wire::Batch batch;
  batch.agent = "node-3";
  batch.job = "job";
  wire::NicDefinition card;
  card.name = "mlx5_0/1";
  batch.nics.definitions.push_back(card);
  wire::NicSecond second;
  second.begin = rested.now;
  second.sent = 1'000'000;
  batch.nics.seconds.push_back(second);
  job.apply(batch, store::Seq{1'000}, later);
  CHECK(job.last_arrival() == arrival);
  const auto& nics = job.state().agents().at("node-3").nics.nics();
  REQUIRE(nics.contains("mlx5_0/1"));
  CHECK(nics.at("mlx5_0/1").seconds.size() == 1);
  CHECK(job.last() == store::Seq{1'000});
}

TEST_CASE("live job: a site's table says how sure its reports are") {
  diagnose::clues::Scale scale = diagnose::clues::shipped_scale();
  for (diagnose::clues::GroundRow& row : scale.grounds) row.weight = 0;
  JobOptions options;
  options.scale = std::make_shared<const diagnose::clues::Scale>(scale);
  const Rested shipped(false), own(false, options);
  REQUIRE((shipped.job.report() && own.job.report()));
  CHECK(shipped.job.report()->verdict.state == own.job.report()->verdict.state);
  CHECK(own.job.report()->verdict.confidence == 0.5);
  CHECK(shipped.job.report()->verdict.confidence > 0.5);
}

TEST_CASE("live job: nodes that print alike ask for nothing") {
  Rested rested(false);
  const TimeMs later = rested.now + Millis{1'000};
  REQUIRE(rested.job.wants_check(later));
  CHECK(rested.job.check_nodes(later) == 0);
  CHECK_FALSE(rested.job.poll(later, later));
  CHECK(rested.changes.alerts.empty());
  CHECK(rested.job.row(later, later).notices == 0);
}

TEST_CASE("live job: what its report calls notable is a notice, and in its row") {
  Rested rested(true);
  REQUIRE_FALSE(rested.changes.alerts.empty());
  const alert::Alert& told = rested.changes.alerts.front();
  CHECK(told.kind == alert::Kind::noticed);
  CHECK(told.nodes == std::vector<std::string>{"node-11"});
  const JobRow row = rested.job.row(rested.now, rested.now);
  CHECK(row.notices >= 1);
  REQUIRE(row.confidence);
  CHECK(*row.confidence > 0);
  CHECK_FALSE(row.course_ms.empty());
  CHECK(row.course_ms.size() <= kCourseMax);
  CHECK(row.notice.find("node-11") != std::string::npos);
  ByteWriter saved;
  rested.job.save(saved, Presence(PresenceOptions{}));
  LiveJob again("job", {}, rested.now);
  REQUIRE(again.load(saved.bytes()));
  CHECK(again.open_notices() == rested.job.open_notices());
  const auto over = again.close_notices(rested.now);
  CHECK(over.alerts.size() == rested.job.open_notices());
}

TEST_CASE("live job: its users are the owners of its logs, by name, and are kept") {
  MadeJob made(3, 2);
  made.iterate_all(1, 5);
  for (int rank = 0; rank < made.ranks(); ++rank)
    made.source_of(rank).user = rank == 5 ? "" : rank % 2 == 0 ? "bob" : "alice";
  const TimeMs now = job::test::after(60'000);
  LiveJob job("job", {}, now);
  std::uint64_t seq = 0;
  for (wire::Batch& batch : made.batches()) job.apply(std::move(batch), store::Seq{++seq}, now);
  const std::vector<std::string> both{"alice", "bob"};
  CHECK(job.row(now, now).users == both);
  ByteWriter saved;
  job.save(saved, Presence(PresenceOptions{}));
  LiveJob again("job", {}, now);
  REQUIRE(again.load(saved.bytes()));
  CHECK(again.row(now, now).users == both);
}

TEST_CASE("live job: a row names no more users than it may") {
  MadeJob made(30);
  made.iterate_all(1, 5);
  for (int rank = 0; rank < made.ranks(); ++rank)
    made.source_of(rank).user = std::string(1, static_cast<char>('A' + rank));
  const TimeMs now = job::test::after(60'000);
  LiveJob job("job", {}, now);
  std::uint64_t seq = 0;
  for (wire::Batch& batch : made.batches()) job.apply(std::move(batch), store::Seq{++seq}, now);
  const std::vector<std::string> users = job.row(now, now).users;
  REQUIRE(users.size() == kUsersMax);
  CHECK(users.front() == "A");
}

TEST_CASE("live job: an iteration that took long asks for a diagnosis soon, and without haste") {
  for (const std::int64_t last_ms : {200, 4'000}) {
    CAPTURE(last_ms);
    const auto batches = job_with_last(last_ms).batches();
    const std::size_t iterations = batches.front().segments.size();
    TimeMs now = job::test::after(0);
    LiveJob job("job", {}, now);
    std::uint64_t seq = 0;
    for (std::size_t i = 0; i < iterations; ++i) {
      const bool last = i + 1 == iterations;
      if (last) {
        static_cast<void>(job.diagnose(now, now, nullptr));
        job.rest(now, Millis{10});
      }
      now += Millis{last ? last_ms : 200};
      for (const wire::Batch& batch : batches) job.apply(part_of(batch, i), store::Seq{++seq}, now);
    }
    CHECK_FALSE(job.poll(now, now));
    const TimeMs later = now + Millis{3'000};
    const bool wants = job.poll(later, later);
    CHECK(wants == (last_ms > 200));
    CHECK_FALSE(job.is_urgent());
    CHECK_FALSE(job.is_suspect(later, later));
    if (!wants) continue;
    static_cast<void>(job.diagnose(later, later, nullptr));
    REQUIRE(job.report());
    REQUIRE(job.report()->notable.size() == 1);
    CHECK(job.report()->notable.front().iteration == Iteration{101});
    // A costly diagnosis is made again for the next one, but not soon.
    job.rest(later, Millis{2'000});
    for (const wire::Batch& batch : batches) {
      wire::Batch part = part_of(batch, iterations - 1);
      part.segments.front().iteration = Iteration{102};
      job.apply(std::move(part), store::Seq{++seq}, later + Millis{4'000});
    }
    CHECK_FALSE(job.poll(later + Millis{39'000}, later + Millis{39'000}));
    CHECK(job.poll(later + Millis{41'000}, later + Millis{41'000}));
  }
}

}  // namespace
}  // namespace l4::scoring
