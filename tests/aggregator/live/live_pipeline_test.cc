// The live aggregator as a whole, in one process: the agents' batches give the same state and
// report as offline, through restarts; with its threads running, for the thread sanitizer.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "aggregator/receive/receiver.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/store/sqlite.h"
#include "common/wire/memory_transport.h"
#include "tests/aggregator/live/live_world.h"
#include "tests/aggregator/store/model_files.h"
#include "tests/temp_folder.h"

namespace l4::test {
namespace {

const std::filesystem::path kSample = std::filesystem::path(L4_SOURCE_DIR) / "samples/crash-rank4";
constexpr auto kSampleJob = "crash-rank4";

std::string report_of(const job::JobState& state) {
  diagnose::Options how;
  how.as_of = parse_time("2026-12-01T00:00:00Z");
  return serve::to_json(diagnose::diagnose(state, {}, how).report);
}

/// The report of `l4 diagnose` over the same batches.
std::string offline_report(const std::vector<std::vector<wire::Batch>>& nodes) {
  job::TemplateTable templates;
  job::JobState state(kSampleJob, 0, templates);
  wire::MemoryLink link = wire::make_memory_link(1, 1'000'000);
  for (const auto& batches : nodes)
    for (const wire::Batch& batch : batches) link.senders[0]->send(batch);
  link.senders.clear();
  std::vector<std::string> errors;
  receive::receive_all(*link.receiver, state, errors);
  CHECK(errors.empty());
  return report_of(state);
}

void add_nodes(LiveWorld& world, const std::vector<std::vector<wire::Batch>>& nodes) {
  for (const auto& batches : nodes) world.add(batches.at(0).agent, batches);
}

TEST_CASE("live pipeline: the same report as offline, and one incident") {
  const auto nodes = recorded(kSample, kSampleJob);
  REQUIRE(nodes.size() == 4);
  TempFolder folder;
  LiveWorld world(folder.path());
  world.start();
  add_nodes(world, nodes);
  REQUIRE(world.settle());
  for (int i = 0; i < 400; ++i) world.step();
  const scoring::LiveJob* job = world.aggregator->find(kSampleJob);
  REQUIRE(job != nullptr);
  CHECK(report_of(job->state()) == offline_report(nodes));
  CHECK(job->refused() == 0);
  store::IncidentQuery query;
  query.job = kSampleJob;
  const auto incidents = world.aggregator->incidents(query);
  REQUIRE(incidents);
  REQUIRE(incidents->size() == 1);
  CHECK(incidents->at(0).state == "crashed");
  CHECK_FALSE(incidents->at(0).resolved);
  CHECK(incidents->at(0).report.find("\"schema\": \"l4.report/2\"") != std::string::npos);
  CHECK(world.heard.count("alert opened: job crash-rank4") == 1);
}

TEST_CASE("live pipeline: killed again and again it comes back the same, and alerts once") {
  const auto nodes = recorded(kSample, kSampleJob);
  TempFolder folder;
  LiveWorld world(folder.path());
  world.start();
  add_nodes(world, nodes);
  std::size_t kills = 0, at_kill = 0;
  const auto committed = [&] {
    std::size_t sum = 0;
    for (const auto& node : world.nodes) sum += node->done_batches();
    return sum;
  };
  for (int steps = 1; steps < 300'000; ++steps) {
    world.step();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (std::ranges::all_of(world.nodes, [](const auto& node) { return node->done(); })) break;
    if (committed() < at_kill + 7) continue;
    at_kill = committed();
    ++kills;
    world.start();
  }
  REQUIRE(world.settle());
  CHECK(kills >= 3);
  for (int i = 0; i < 1'600; ++i) world.step();
  const scoring::LiveJob* job = world.aggregator->find(kSampleJob);
  REQUIRE(job != nullptr);
  CHECK(report_of(job->state()) == offline_report(nodes));
  world.start();
  for (int i = 0; i < 1'600; ++i) world.step();
  CHECK(report_of(world.aggregator->find(kSampleJob)->state()) == offline_report(nodes));
  CHECK(world.heard.count("alert opened") == 1);
  const auto incidents = world.aggregator->incidents({});
  REQUIRE(incidents);
  CHECK(incidents->size() == 1);
}

TEST_CASE("live pipeline: a full disk stops it, and room lets it go on") {
  const auto nodes = recorded(kSample, kSampleJob);
  TempFolder folder;
  store::test::ModelFiles files;
  LiveWorld world(folder.path());
  world.files = &files;
  world.options.store.commit.retry = Millis{20};
  world.start();
  add_nodes(world, nodes);
  for (int i = 0; i < 60 && world.aggregator->find(kSampleJob) == nullptr; ++i) world.step();
  files.fail_all();
  const auto wait = [&](bool accepting) {
    for (int i = 0; i < 60'000 && world.aggregator->health().reasons.empty() != accepting; ++i) {
      world.step();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  wait(false);
  REQUIRE(world.aggregator->health().reasons.size() == 1);
  for (int i = 0; i < 200; ++i) world.step();
  CHECK_FALSE(std::ranges::all_of(world.nodes, [](const auto& node) { return node->done(); }));
  CHECK(world.heard.count("nothing is accepted") == 1);
  files.heal();
  wait(true);
  REQUIRE(world.settle());
  CHECK(report_of(world.aggregator->find(kSampleJob)->state()) == offline_report(nodes));
}

TEST_CASE("live pipeline: so many jobs may be held, however they fall on the shards") {
  TempFolder folder;
  LiveWorld world(folder.path());
  world.options.shards.shards = 4;
  world.options.shards.jobs_max = 6;
  world.start();
  const auto held_of = [&](std::size_t first, std::size_t last) {
    for (std::size_t job = first; job < last; ++job)
      world.add("node-" + std::to_string(job), {})
          .add(healthy_second("job-" + std::to_string(job), job, 2, 0, world.now().wall));
    CHECK(world.settle());
    for (int i = 0; i < 600; ++i) world.step();
    std::size_t held = 0;
    for (std::size_t job = 0; job < last; ++job)
      held += world.aggregator->find("job-" + std::to_string(job)) != nullptr ? 1 : 0;
    return held;
  };
  CHECK(held_of(0, 6) == 6);
  CHECK(world.heard.count("was let go") == 0);
  const std::size_t held = held_of(6, 20);
  CHECK(held <= 6);
  CHECK(held >= 3);  // several shards may see the same excess and drop a job each
  CHECK(world.heard.count("there are more jobs than may be") == 20 - held);
}

/// Jobs of one node on one thread; all their routine diagnoses are due at the same moment.
struct ManyJobs {
  static constexpr std::size_t kJobs = 60;

  explicit ManyJobs(Millis diagnoses_most) : world(folder.path()) {
    world.patient = true;
    world.options.shards.diagnoses_most = diagnoses_most;
    world.start();
    for (std::size_t job = 0; job < kJobs; ++job)
      world.add("node-" + std::to_string(job), {}).add(second(job, 0));
    CHECK(world.settle());
    world.clock += 30'000;
    for (std::size_t job = 0; job < kJobs; ++job) world.nodes[job]->add(second(job, 1));
    CHECK(world.settle());
    CHECK(diagnosed() == 0);
    for (int i = 0; i < 1'000 && diagnosed() == 0; ++i) world.step();
  }
  static std::string name(std::size_t job) { return "job-" + std::to_string(job); }
  wire::Batch second(std::size_t job, std::size_t number) const {
    return healthy_second(name(job), job, 1, number, world.now().wall);
  }
  bool is_diagnosed(std::size_t job) const {
    const scoring::LiveJob* found = world.aggregator->find(name(job));
    return found != nullptr && found->report().has_value();
  }
  std::size_t diagnosed() const {
    std::size_t count = 0;
    for (std::size_t job = 0; job < kJobs; ++job) count += is_diagnosed(job) ? 1 : 0;
    return count;
  }

  TempFolder folder;
  LiveWorld world;
};

TEST_CASE("live pipeline: diagnoses of many jobs do not wait for a turn of each") {
  ManyJobs many(Millis{20});
  for (int i = 0; i < 3; ++i) many.world.step();
  CHECK(many.diagnosed() == ManyJobs::kJobs);
}

TEST_CASE("live pipeline: a failure is looked at before what is routine") {
  ManyJobs many(Millis{0});  // one a look
  CHECK(many.diagnosed() == 1);
  constexpr std::size_t kFailed = ManyJobs::kJobs - 1;
  wire::Batch batch = many.second(kFailed, 2);
  wire::ProcessFact fact;
  fact.boot_id = "boot";
  fact.pid = wire::Pid{4711};
  fact.started = many.world.now().wall - Millis{60'000};
  fact.part = wire::Part::rank;
  fact.node = batch.agent;
  fact.rank = Rank{static_cast<std::int32_t>(kFailed)};
  fact.world_size = 1;
  fact.state = wire::ProcessState::gone;
  fact.since = many.world.now().wall;
  fact.exit = {wire::Exit::Kind::signal, 9, wire::Exit::Seen::child};
  batch.processes.push_back(fact);
  many.world.nodes[kFailed]->add(batch);
  for (int i = 0; i < 100 && !many.is_diagnosed(kFailed); ++i) many.world.step();
  CHECK(many.is_diagnosed(kFailed));
  CHECK(many.diagnosed() < ManyJobs::kJobs / 2);
}

TEST_CASE("live pipeline: the books are kept once an hour, not once a shard") {
  TempFolder folder;
  LiveWorld world(folder.path());
  world.options.shards.shards = 4;
  world.options.store.database.vfs = "none such";  // every use of the database fails and is logged
  world.start();
  constexpr auto kTold = "what is old stays in the database";
  for (int i = 0; i < 60; ++i) world.step();
  CHECK(world.heard.count(kTold) == 1);
  world.clock += 3'590'000;
  for (int i = 0; i < 60; ++i) world.step();
  CHECK(world.heard.count(kTold) == 1);
  world.clock += 10'000;
  for (int i = 0; i < 60; ++i) world.step();
  CHECK(world.heard.count(kTold) == 2);
}

TEST_CASE("live pipeline: blind is one alert, and no node is called lost") {
  TempFolder folder;
  LiveWorld world(folder.path());
  world.patient = true;
  world.start();
  for (std::size_t node = 0; node < 5; ++node) {
    std::vector<wire::Batch> batches{healthy_second(kSampleJob, node, 2, 0, world.now().wall)};
    world.add(batches[0].agent, {}).add(batches[0]);
  }
  std::size_t second = 1;
  const auto run = [&](std::size_t seconds) {
    for (const std::size_t end = second + seconds; second < end; ++second) {
      for (std::size_t i = 0; i < world.nodes.size(); ++i)
        world.nodes[i]->add(healthy_second(kSampleJob, i, 2, second, world.now().wall));
      for (int i = 0; i < 20; ++i) world.step();
    }
  };
  run(70);
  world.network.cut_server(true);
  run(40);
  CHECK(world.heard.count("alert blind") == 1);
  world.network.cut_server(false);
  run(120);
  CHECK(world.heard.count("alert sighted") == 1);
  CHECK(world.heard.count(" is lost") == 0);
  CHECK(world.heard.count("alert opened") == 0);
  world.network.cut("10.0.0.1", false);
}

TEST_CASE("live pipeline: an hour without a word from anybody is no hang and no end of it") {
  constexpr std::size_t kNodes = 100;
  TempFolder folder;
  LiveWorld world(folder.path());
  world.patient = true;
  world.start();
  for (std::size_t node = 0; node < kNodes; ++node) {
    std::vector<wire::Batch> batches{healthy_second(kSampleJob, node, 1, 0, world.now().wall)};
    world.add(batches[0].agent, {}).add(batches[0]);
  }
  std::size_t second = 1;
  const auto run = [&](std::size_t seconds) {
    for (const std::size_t end = second + seconds; second < end; ++second) {
      for (std::size_t i = 0; i < kNodes; ++i)
        world.nodes[i]->add(healthy_second(kSampleJob, i, 1, second, world.now().wall));
      for (int i = 0; i < 4; ++i) {
        world.clock += 200;
        world.step();
      }
    }
  };
  run(75);
  world.network.cut_server(true);
  for (int i = 0; i < 3'600; ++i) {
    world.clock += 950;
    world.step();
  }
  CHECK(world.heard.count("alert blind") == 1);
  CHECK(world.heard.count("alert sighted") == 0);
  CHECK(world.heard.count("alert opened") == 0);
  CHECK(world.heard.count(" is lost") == 0);
  CHECK(world.aggregator->health().blind);
  world.network.cut_server(false);
  run(150);
  CHECK(world.heard.count("alert sighted") == 1);
  CHECK(world.heard.count("alert opened") == 0);
  CHECK(world.heard.count(" is lost") == 0);
  CHECK_FALSE(world.aggregator->health().blind);
}

TEST_CASE("live pipeline: with its threads running, and stopped") {
  const auto nodes = recorded(kSample, kSampleJob);
  TempFolder folder;
  live::Options options;
  options.shards.shards = 2;
  LiveWorld world(folder.path(), options);
  world.start();
  world.aggregator->start();
  add_nodes(world, nodes);
  std::atomic<int> answers{0};
  for (int steps = 0; steps < 300'000; ++steps) {
    if (std::ranges::all_of(world.nodes, [](const auto& node) { return node->done(); })) break;
    world.clock += 20;
    world.network.advance(world.now().steady);
    for (const auto& node : world.nodes) node->step(world.now());
    if (steps % 20 == 0) {
      world.aggregator->jobs([&](const std::vector<scoring::JobRow>&) { ++answers; });
      world.aggregator->agents([&](bool, const auto&) { ++answers; });
      world.aggregator->counts([&](const live::Counts&) { ++answers; });
      world.aggregator->job(kSampleJob, live::ReportAge::now,
                            [&](const auto*, const auto&) { ++answers; });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  CHECK(std::ranges::all_of(world.nodes, [](const auto& node) { return node->done(); }));
  world.aggregator->stop();
  CHECK(answers > 0);
  CHECK(report_of(world.aggregator->find(kSampleJob)->state()) == offline_report(nodes));
  world.start();  // restores the saved state
  CHECK(report_of(world.aggregator->find(kSampleJob)->state()) == offline_report(nodes));
  world.kill();
  auto database = store::SqlConnection::open(folder.path() / "state.db", "");
  REQUIRE(database);
  for (const auto& batches : nodes) {  // the offsets in the database, which are for people
    std::map<std::string, std::uint64_t> ends, mirrored;
    for (const wire::Batch& batch : batches)
      for (const wire::Coverage& part : batch.coverage) ends[part.path] = part.bytes.to;
    store::SqlStatement rows(*database, "SELECT path, offset FROM offsets WHERE agent = ?");
    rows.bind(std::string_view(batches.at(0).agent));
    while (rows.step().value_or(false))
      mirrored[rows.text(0)] = static_cast<std::uint64_t>(rows.number(1));
    CHECK(mirrored == ends);
  }
}

}  // namespace
}  // namespace l4::test
