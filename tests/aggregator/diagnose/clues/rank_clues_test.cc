// Clues from what ranks do, or no longer do: silence, habits, iterations, order, timers, processes.
#include <doctest/doctest.h>

#include <cmath>

#include "common/wire/process_fact.h"
#include "tests/aggregator/diagnose/clues/made_scene.h"

namespace l4::diagnose::clues {
namespace {

using detect::Severity;
using job::test::after;
using job::test::MadeJob;
using test::MadeScene;
using test::of_rank;

TEST_CASE("rank clues: who is silent while most complain has died or hangs") {
  MadeJob job(4);
  job.iterate_all(1, 10);
  for (const int rank : {0, 1, 3}) job.say(rank, {"connection closed", Level::error}, 12'000);
  MadeScene scene(job);
  scene.fail("connection", Severity::failure);
  const auto clues = scene.clues(silence);
  CHECK(clues.size() == 1);
  CHECK(of_rank(clues, 2).kind == ClueKind::silent);
  CHECK(of_rank(clues, 2).strength == doctest::Approx(1.0));
  CHECK(text_of(of_rank(clues, 2).facts, FactKind::count) == "3");
}

TEST_CASE("rank clues: where half complain, silence says nothing") {
  MadeJob job(6);
  job.iterate_all(1, 10);
  for (const int rank : {0, 1}) job.say(rank, {"connection closed", Level::error}, 12'000);
  MadeScene scene(job);
  scene.fail("connection", Severity::failure);
  CHECK(scene.clues(silence).empty());
}

TEST_CASE("rank clues: in a hang the rank that ends well before all others leads") {
  MadeJob job(4);
  job.iterate_all(1, 10);
  MadeScene scene(job);
  scene.state = State::hung;
  auto& silence_found = scene.findings().silence;
  silence_found.overdue = true;
  silence_found.order = {
      {2, after(5000), 0}, {0, after(9000), 0}, {1, after(9010), 0}, {3, after(9020), 0}};
  const auto clues = scene.clues(silence);
  CHECK(of_rank(clues, 2).kind == ClueKind::silent_first);
  CHECK(of_rank(clues, 2).strength == 1.0);
  CHECK(number_of(of_rank(clues, 2).facts, FactKind::ms) == 4000);
  silence_found.order[0].since = after(8500);  // clocks may differ so much
  CHECK(of_rank(scene.clues(silence), 2).strength == shipped_scale().shares.unsure_lead);
  silence_found.order[0].since = after(8990);
  CHECK(scene.clues(silence).empty());
}

TEST_CASE("rank clues: a habit that its peers keep during a stall") {
  MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank) job.say(rank, {"heartbeat"}, 1000);
  job.iterate_all(2, 10);
  for (const int rank : {0, 1, 3}) job.say(rank, {"heartbeat"}, 40'000);
  MadeScene scene(job);
  const auto clues = scene.clues(habits);
  CHECK(clues.size() == 1);
  CHECK(of_rank(clues, 2).kind == ClueKind::habit_stopped);
  CHECK(text_of(of_rank(clues, 2).facts, FactKind::text) == "heartbeat");
}

TEST_CASE("rank clues: an iteration that others completed") {
  MadeJob job(4);
  job.iterate_all(1, 10);
  for (const int rank : {0, 1, 2}) job.iterate(rank, 11, 11'000);
  MadeScene scene(job);
  const auto clues = scene.clues(progress);
  CHECK(clues.size() == 1);
  CHECK(of_rank(clues, 3).kind == ClueKind::behind);
  CHECK(text_of(of_rank(clues, 3).facts, FactKind::iteration) == "11");
}

TEST_CASE("rank clues: most ranks behind means that one is ahead") {
  MadeJob job(4);
  job.iterate_all(1, 10);
  job.iterate(0, 11, 11'000);
  CHECK(MadeScene(job).clues(progress).empty());
}

TEST_CASE("rank clues: a last iteration that is not what its peers print") {
  MadeJob job(4);
  job.say(0, {"gathered gradients"}, 500);
  job.iterate_all(1, 10);
  MadeScene scene(job);
  scene.state = State::hung;
  scene.findings().sequences.streams = {0, 1, 2, 3};
  detect::temporal::Anomaly alarm;
  alarm.kind = detect::temporal::AnomalyKind::sequence;
  alarm.stream = 1;
  alarm.iteration = 10;
  alarm.missing = {job::test::event_of(scene.view(), "gathered")};
  scene.findings().temporal.emplace().alarms = {alarm};
  const Clue clue = of_rank(scene.clues(sequences), 1);
  CHECK(clue.kind == ClueKind::odd_iteration);
  CHECK(text_of(clue.facts, FactKind::text) == "gathered gradients");
  scene.findings().temporal->alarms[0].iteration = 3;  // long over
  CHECK(scene.clues(sequences).empty());
}

TEST_CASE("rank clues: lines in another order") {
  MadeJob job(4);
  job.say(0, {"forward"}, 100);
  job.say(0, {"backward"}, 200);
  job.iterate_all(1, 5);
  MadeScene scene(job);
  detect::temporal::Turn turn;
  turn.stream = 2;
  turn.earlier = job::test::event_of(scene.view(), "forward");
  turn.later = job::test::event_of(scene.view(), "backward");
  turn.iteration = Iteration{4};
  scene.findings().turns = {turn};
  const Clue clue = of_rank(scene.clues(turns), 2);
  CHECK(clue.kind == ClueKind::turned);
  CHECK(clue.strength == doctest::Approx(1.0));
}

TEST_CASE("rank clues: delays, each rank once") {
  MadeJob job(4);
  job.iterate_all(1, 5);
  MadeScene scene(job);
  using detect::delay::DelayKind;
  detect::delay::Delay late{DelayKind::late_start, 1, {}, {}, 9000, 10};
  detect::delay::Delay slow{DelayKind::slow_phase, 2, "loader", Iteration{3}, 90, 10};
  detect::delay::Delay stall{DelayKind::stall, 2, {}, Iteration{4}, 8000, 200};
  detect::delay::Delay nobody{DelayKind::stall, std::nullopt, {}, Iteration{4}, 8000, 200};
  scene.findings().delays = {late, slow, stall, nobody};
  const auto clues = scene.clues(delays);
  CHECK(clues.size() == 2);
  CHECK(of_rank(clues, 1).kind == ClueKind::late_start);
  CHECK(of_rank(clues, 2).kind == ClueKind::slow_phase);
  CHECK(text_of(of_rank(clues, 2).facts, FactKind::timer) == "loader");
  scene.findings().delays = {stall};
  CHECK(of_rank(scene.clues(delays), 2).kind == ClueKind::held_up);
}

TEST_CASE("rank clues: timers of a job that became slow, the largest growth told") {
  MadeJob job(4);
  job.iterate_all(1, 5);
  MadeScene scene(job);
  scene.state = State::slow;
  scene.findings().slowdown.found = true;
  scene.findings().slowdown.drags = {{3, "forward", 10, 110, 100}, {1, "forward", 10, 30, 20}};
  const auto clues = scene.clues(drags);
  CHECK(of_rank(clues, 3).strength == 1.0);
  CHECK(of_rank(clues, 3).told);
  CHECK(of_rank(clues, 1).strength == doctest::Approx(0.2));
  CHECK_FALSE(of_rank(clues, 1).told);
}

TEST_CASE("rank clues: the forest's scores are of nodes, and need three of them") {
  MadeJob job(4);
  job.iterate_all(1, 5);
  MadeScene scene(job);
  detect::spatial::SpatialResult result;
  result.nodes.resize(2);
  result.nodes[0].node = 2;
  result.nodes[0].isolation = 0.7;
  result.nodes[1].node = 1;
  scene.findings().spatial = result;
  const auto clues = scene.clues(forest);
  REQUIRE(clues.size() == 1);
  CHECK(clues[0].whose == Whose::node);
  CHECK(clues[0].index == 2);
  CHECK(clues[0].strength == doctest::Approx(0.7));
}

TEST_CASE("rank clues: a node that differs while the job runs well, as a notice names it") {
  MadeJob job(8);
  job.iterate_all(1, 5);
  job.say(5, {"link flap observed"}, 2500);
  MadeScene scene(job);
  scene.state = State::healthy;
  CHECK(scene.clues(windows).empty());
  detect::spatial::NodeDifference node;
  node.node = 5;
  node.explanation = 100;
  node.events.emplace_back().event = job::test::event_of(scene.view(), "link");
  scene.findings().differences.nodes = {node};
  CHECK(of_rank(scene.clues(windows), 5).kind == ClueKind::differs);
  CHECK(of_rank(scene.clues(windows), 5).strength == doctest::Approx(1.0));
  scene.findings().differences.nodes[0].explanation = 0.5 * std::log(8.0);
  CHECK(of_rank(scene.clues(windows), 5).strength == doctest::Approx(0.5));
}

TEST_CASE("rank clues: the forest tells of a job that goes on where no words speak for a line") {
  MadeJob job(8);
  job.iterate_all(1, 5);
  MadeScene scene(job);
  detect::spatial::SpatialResult result;
  result.nodes.resize(8);
  result.nodes[3].node = 3;
  result.nodes[3].isolation = 0.7;
  scene.findings().spatial = result;
  for (const State state : {State::healthy, State::finished}) {
    scene.state = state;
    scene.findings().apart.worded = true;
    CHECK(scene.clues(forest).empty());
    scene.findings().apart.worded = false;
    CHECK(scene.clues(forest).size() == 1);
  }
}

TEST_CASE(
    "rank clues: where no words are read, lines that healthy runs do not print tell of nodes") {
  MadeJob job(8);
  job.iterate_all(1, 5);
  job.say(2, {"request to a peer came back"}, 3500);
  for (const int rank : {4, 5, 6}) job.say(rank, {"cache was flushed"}, 3600);
  for (int rank = 0; rank < 6; ++rank) job.say(rank, {"weights are in place"}, 3700);
  MadeScene scene(job);
  scene.state = State::healthy;
  scene.findings().failures.worded = false;
  scene.findings().spatial = detect::spatial::SpatialResult{};
  CHECK(scene.clues(forest).empty());  // no healthy run is known
  scene.hint("step done").in_pool = true;
  const auto clues = scene.clues(forest);
  REQUIRE(clues.size() == 4);
  CHECK(clues[0].index == 2);
  CHECK(clues[0].strength > clues[1].strength);
  scene.findings().failures.worded = true;
  CHECK(scene.clues(forest).empty());
}

TEST_CASE("rank clues: whatever a standing fault says of a peer, its own node is meant") {
  MadeJob job(8);
  job.iterate_all(1, 5);
  for (int k = 0; k < 3; ++k) job.say(6, {"request to the peer failed"}, 5100 + 100 * k);
  MadeScene scene(job);
  scene.state = State::healthy;
  scene.fail("request", Severity::failure);
  scene.hint("request").accuses_peer = true;
  CHECK(of_rank(scene.clues(standing), 6).kind == ClueKind::cause);
  CHECK(scene.clues(standing).size() == 1);
}

TEST_CASE("rank clues: all logs of a node stop") {
  MadeJob job(4);
  job.iterate_all(1, 5);
  MadeScene scene(job);
  scene.lost = {3};
  CHECK(of_rank(scene.clues(lost_nodes), 3).kind == ClueKind::logs_stopped);
  CHECK(scene.clues(processes).empty());
  Live live;
  live.lost = {{"node-3", after(4000)}};
  scene.findings().live = &live;  // then the agent is lost with it
  CHECK(scene.clues(lost_nodes).empty());
  CHECK(of_rank(scene.clues(processes), 3).kind == ClueKind::agent_lost);
}

/// Processes of a job's ranks, as its agents have seen them.
class Processes {
 public:
  Processes(MadeScene& scene, std::vector<wire::ProcessFact> facts) : facts_(std::move(facts)) {
    auto& view = const_cast<job::JobView&>(scene.view());
    for (std::size_t rank = 0; rank < facts_.size(); ++rank)
      view.ranks[rank].process = &facts_[rank];
    scene.findings().stages.finished.assign(view.ranks.size(), false);
    scene.findings().stages.last_of_rank.assign(view.ranks.size(), Stage::training);
    scene.findings().processes = weigh_processes(view, scene.findings().stages);
  }

 private:
  std::vector<wire::ProcessFact> facts_;
};

wire::ProcessFact fact(wire::ProcessState state, std::int64_t since, wire::Exit exit = {}) {
  wire::ProcessFact fact;
  fact.state = state;
  fact.since = after(since);
  fact.exit = exit;
  return fact;
}

using wire::Exit;
using wire::ProcessState;

TEST_CASE("rank clues: the process that was struck leads; who answers right after it, half") {
  MadeJob job(4);
  job.iterate_all(1, 5);
  MadeScene scene(job);
  const Processes processes_of(scene, {fact(ProcessState::running, 0),
                                       fact(ProcessState::gone, 6000, {Exit::Kind::signal, 9}),
                                       fact(ProcessState::gone, 6500, {Exit::Kind::code, 1}),
                                       fact(ProcessState::gone, 9000, {Exit::Kind::signal, 15})});
  const auto clues = scene.clues(processes);
  CHECK(clues.size() == 3);
  const Clue& struck = of_rank(clues, 1);
  CHECK(struck.kind == ClueKind::process_gone);
  CHECK(struck.strength == 1.0);
  CHECK(text_of(struck.facts, FactKind::signal) == "9");
  CHECK(text_of(struck.facts, FactKind::exit).contains("SIGKILL"));
  CHECK(of_rank(clues, 2).kind == ClueKind::process_gone);
  CHECK(of_rank(clues, 2).strength == shipped_scale().shares.answers);
  CHECK(of_rank(clues, 3).kind == ClueKind::process_followed);
}

TEST_CASE("rank clues: a stopped process leads over those that left; stopped all, nobody") {
  MadeJob job(3);
  job.iterate_all(1, 5);
  MadeScene scene(job);
  const Processes some(scene, {fact(ProcessState::running, 0), fact(ProcessState::stopped, 6000),
                               fact(ProcessState::uninterruptible, 6100)});
  CHECK(of_rank(scene.clues(processes), 1).kind == ClueKind::process_stopped);
  CHECK(of_rank(scene.clues(processes), 1).strength == 1.0);
  CHECK(of_rank(scene.clues(processes), 2).kind == ClueKind::process_waits);
  const Processes all(scene, {fact(ProcessState::stopped, 6000), fact(ProcessState::traced, 6000),
                              fact(ProcessState::stopped, 6000)});
  for (const std::uint32_t rank : {0U, 1U, 2U})
    CHECK(of_rank(scene.clues(processes), rank).strength == 0.0);
  CHECK(of_rank(scene.clues(processes), 1).kind == ClueKind::process_traced);
}

}  // namespace
}  // namespace l4::diagnose::clues
