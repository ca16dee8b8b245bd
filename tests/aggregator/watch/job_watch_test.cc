// Each cause fires, and its healthy twin stays silent. Floors are 10 s and 60 s.
#include "aggregator/watch/job_watch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tests/aggregator/watch/watched_job.h"

namespace l4::watch {
namespace {

using test::after;
using test::WatchedJob;
using Causes = std::vector<Cause>;
using wire::ProcessState;

constexpr wire::Exit kKilled{wire::Exit::Kind::signal, 9, wire::Exit::Seen::zombie};
constexpr wire::Exit kWell{wire::Exit::Kind::code, 0, wire::Exit::Seen::zombie};

bool has(const Causes& causes, Cause cause) {
  return std::ranges::find(causes, cause) != causes.end();
}

/// The job started 3 s ago and completes iterations 1 to 30 of 1 s each; returns the time of the
/// last one.
std::int64_t trained(WatchedJob& job) {
  job.say_all("model is built", 0, Stage::model_build);
  return job.iterate_all(1, 30, 3000);
}

}  // namespace

TEST_CASE("job watch: silence is suspected at the first floor and confirmed at the second") {
  WatchedJob job(3);
  const std::int64_t last = trained(job);
  CHECK(job.causes().empty());
  job.run_to(last + 9'999);
  CHECK(job.causes().empty());
  job.run_to(last + 30'000);
  CHECK(job.due_at(Cause::silent) <= last + 10'001);
  const Trigger suspected = job.trigger(Cause::silent);
  CHECK_FALSE(suspected.confirmed);
  CHECK(suspected.evidence == after(last));
  CHECK(suspected.detail.find("iteration 30 was done") != std::string::npos);
  CHECK(job.causes() == Causes{Cause::silent});
  job.run_to(last + 200'000);
  CHECK(job.due_at(Cause::silent) <= last + 60'001);
  CHECK(job.trigger(Cause::silent).confirmed);
  CHECK(job.causes() == Causes{Cause::silent});
}

TEST_CASE("job watch: lines that keep arriving are no progress") {
  WatchedJob job(3);
  const std::int64_t last = trained(job);
  for (int i = 1; i < 40; ++i) job.say(1, "still waiting for data", last + 500 * i);
  CHECK(job.due_at(Cause::silent) <= last + 10'001);
}

TEST_CASE("job watch: a stopped process confirms a silence at once") {
  WatchedJob job(3);
  job.processes(0);
  const std::int64_t last = trained(job);
  job.process(1, ProcessState::stopped, last + 100);
  job.run_to(last + 5000);
  CHECK(job.causes() == Causes{Cause::process_stopped});
  job.run_to(last + 11'000);
  CHECK(job.trigger(Cause::silent).confirmed);
  CHECK(job.due_at(Cause::silent) <= last + 5001);  // half of the floor is enough
}

TEST_CASE(
    "job watch, healthy: a process that goes on after it was stopped leaves the whole floor") {
  WatchedJob job(3);
  job.processes(0);
  const std::int64_t last = trained(job);
  job.process(1, ProcessState::stopped, last + 100);
  job.process(1, ProcessState::running, last + 4500);
  job.run_to(last + 9'900);
  CHECK(job.causes() == Causes{Cause::process_stopped});
}

TEST_CASE("job watch: progress after a suspicion is said once, and arms it again") {
  WatchedJob job(3);
  std::int64_t last = trained(job);
  job.run_to(last + 15'000);
  CHECK(job.causes() == Causes{Cause::silent});
  last = job.iterate_all(31, 40, last + 15'000);
  CHECK(job.causes() == Causes{Cause::went_on});
  job.run_to(last + 29'000);  // the longest pause was 15 s, so the deadline is 30 s
  CHECK(job.causes().empty());
  job.run_to(last + 31'000);
  CHECK(job.causes() == Causes{Cause::silent});
}

TEST_CASE("job watch, healthy: checkpoints, the first of 35 s and one of 50 s") {
  WatchedJob job(3);
  std::int64_t last = trained(job);
  job.say_all("saving checkpoint", last + 100, Stage::checkpoint_save);
  last = job.iterate_all(31, 60, last + 35'000);
  job.say_all("saving checkpoint", last + 100, Stage::checkpoint_save);
  job.iterate_all(61, 90, last + 50'000);
  CHECK(job.causes().empty());
}

TEST_CASE("job watch: a hang in the first checkpoint is suspected within four floors") {
  WatchedJob job(3);
  const std::int64_t last = trained(job);
  job.say_all("saving checkpoint", last + 100, Stage::checkpoint_save);
  job.run_to(last + 39'000);
  CHECK(job.causes().empty());
  job.run_to(last + 300'000);
  CHECK(job.due_at(Cause::silent) <= last + 41'000);
  CHECK(job.trigger(Cause::silent).detail.find("checkpoint_save began") != std::string::npos);
  // The usual duration of a checkpoint is still unknown.
  CHECK_FALSE(job.trigger(Cause::silent).confirmed);
}

TEST_CASE("job watch, healthy: a checkpoint whose line comes before that of the iteration") {
  WatchedJob job(2);
  std::int64_t last = trained(job);
  job.say(1, "saving checkpoint", last + 1000, Level::info, Stage::checkpoint_save);
  job.iterate(0, 31, last + 1200);
  job.iterate_all(32, 40, last + 30'000);
  CHECK(job.causes().empty());
}

TEST_CASE("job watch, healthy: evaluation, and a loader's stall of twice one seen before") {
  WatchedJob job(3);
  std::int64_t last = trained(job);
  job.say(2, "evaluating", last + 100, Level::info, Stage::evaluation);
  last = job.iterate_all(31, 50, last + 30'000);
  last = job.iterate_all(51, 60, last + 9'000);
  job.iterate_all(61, 70, last + 17'000);
  CHECK(job.causes().empty());
}

TEST_CASE("job watch, healthy: a start that takes long, first iterations that take long") {
  WatchedJob job(3);
  job.say_all("importing", 0, Stage::init);
  job.say_all("building model", 30'000, Stage::model_build);
  job.say_all("loading data", 65'000, Stage::data_loading);
  job.iterate_all(1, 1, 100'000);
  job.iterate_all(2, 2, 125'000);
  job.iterate_all(3, 30, 140'000);
  CHECK(job.causes().empty());
}

TEST_CASE("job watch: a start that stands still is suspected after four floors, no more") {
  WatchedJob job(3);
  job.say_all("building model", 0, Stage::model_build);
  job.run_to(39'000);
  CHECK(job.causes().empty());
  job.run_to(500'000);
  CHECK(job.due_at(Cause::silent) <= 40'101);
  CHECK(job.trigger(Cause::silent).detail.find("no iteration was marked yet") != std::string::npos);
  CHECK(job.causes() == Causes{Cause::silent});
}

TEST_CASE(
    "job watch: a new line that is worded as a failure fires at once, and again if all stops") {
  WatchedJob job(3);
  const std::int64_t last = trained(job);
  job.say(1, "CUDA error: an illegal memory access was encountered", last + 400, Level::error);
  CHECK(job.due_at(Cause::error_line) == last + 400);
  const Trigger trigger = job.trigger(Cause::error_line);
  CHECK(trigger.node == "node-1");
  CHECK(trigger.rank == Rank{1});
  CHECK(trigger.detail.find("illegal memory access") != std::string::npos);
  CHECK(job.causes().size() == 1);
  job.run_to(last + 4'500);
  CHECK(job.causes() == Causes{Cause::error_line});
}

TEST_CASE("job watch, healthy: an error that comes with iterations is told once") {
  WatchedJob job(2);
  std::int64_t last = trained(job);
  job.say(0, "failed to read metrics", last + 100, Level::error);
  CHECK(job.causes() == Causes{Cause::error_line});
  for (int k = 31; k < 60; ++k) {
    last = job.iterate_all(k, k, last + 1000);
    job.say(0, "failed to read metrics", last + 100, Level::error);
  }
  CHECK(job.causes().empty());
}

TEST_CASE(
    "job watch: an error that is normal for jobs of its kind asks for nothing, unless fatal") {
  WatchedJob job(2);
  job.watch.set_normal([](const wire::TemplateDefinition& known) {
    return known.text == "failed to read metrics" || known.text == "the job is killed";
  });
  const std::int64_t last = trained(job);
  job.say(0, "failed to read metrics", last + 100, Level::error);
  CHECK(job.causes().empty());
  job.say(0, "failed to read weights", last + 200, Level::error);
  CHECK(job.causes() == Causes{Cause::error_line});
  job.iterate_all(31, 33, last + 1000);
  static_cast<void>(job.causes());
  job.say(1, "the job is killed", last + 3100, Level::fatal);
  CHECK(job.causes() == Causes{Cause::error_line});
}

TEST_CASE("job watch: what comes while a cause waits for its diagnosis triggers afterwards") {
  WatchedJob job(2);
  job.answer = State::crashed;
  const std::int64_t last = trained(job);
  job.say(0, "error: first", last + 100, Level::error);
  job.say(1, "error: second", last + 150, Level::error);
  job.run_to(last + 1000);
  CHECK(job.causes() == Causes{Cause::error_line, Cause::error_line});
}

TEST_CASE("job watch: nobody is told again of a job that is known to have crashed") {
  WatchedJob job(2);
  const std::int64_t last = trained(job);
  job.answer = State::crashed;
  job.say(0, "error: it broke", last + 100, Level::error);
  job.run_to(last + 4000);
  job.causes();
  job.run_to(last + 600'000);
  CHECK(job.causes().empty());
  // A single iteration may come from another agent's last lines.
  job.iterate(0, 31, last + 601'000);
  CHECK(job.causes().empty());
  job.iterate(0, 32, last + 602'000);
  CHECK(job.causes() == Causes{Cause::went_on});
}

TEST_CASE("job watch: lines that say the end") {
  WatchedJob job(2);
  const std::int64_t last = trained(job);
  job.answer = State::finished;
  job.say(0, "training is done", last + 100, Level::info, Stage::exit, wire::kMarkFinished);
  CHECK(job.causes().empty());
  job.say(1, "training is done", last + 150, Level::info, Stage::exit, wire::kMarkFinished);
  CHECK(job.causes() == Causes{Cause::ended});
  job.run_to(last + 600'000);
  CHECK(job.causes().empty());
}

TEST_CASE("job watch: lines about the end ask for a diagnosis, in any wording") {
  struct Row {
    const char* line;
    Cause cause;
  };
  for (const Row& row :
       {Row{"wandb: Waiting for W&B process to finish... (success).", Cause::ended},
        Row{"worker group exited with exit code 0", Cause::ended},
        Row{"The job finished successfully", Cause::ended},
        Row{"There appear to be 8 leaked semaphore objects to clean up at shutdown",
            Cause::error_line},
        Row{"KeyboardInterrupt", Cause::error_line}}) {
    CAPTURE(row.line);
    WatchedJob job(2);
    const std::int64_t last = trained(job);
    job.say(0, row.line, last + 100, Level::unknown, Stage::exit, 0);
    job.say(1, row.line, last + 150, Level::unknown, Stage::exit, 0);
    CHECK(has(job.causes(), row.cause));
  }
}

TEST_CASE("job watch: iterations that take twice as long ask for a diagnosis, and less often") {
  WatchedJob job(2);
  std::int64_t last = trained(job);
  last = job.iterate_all(31, 38, last + 2000, 2000);
  CHECK(job.trigger(Cause::slower).detail.find("2.0 times") != std::string::npos);
  CHECK(job.causes() == Causes{Cause::slower});
  job.iterate_all(39, 70, last + 2000, 2000);
  CHECK(job.causes().size() <= 3);
}

TEST_CASE("job watch: iterations of which many are long ask for a diagnosis") {
  WatchedJob job(2);
  std::int64_t last = trained(job);
  for (int k = 31; k < 61; ++k) last = job.iterate_all(k, k, last + (k % 2 == 0 ? 1000 : 2000));
  CHECK(job.trigger(Cause::slower).detail.find("of 16 iterations") != std::string::npos);
  CHECK(has(job.causes(), Cause::slower));
  job.answer = State::slow;
  for (int k = 61; k < 91; ++k) last = job.iterate_all(k, k, last + (k % 2 == 0 ? 1000 : 2000));
  job.diagnosed(State::slow);
  CHECK(job.causes().size() <= 2);
  job.iterate_all(91, 120, last + 1000);
  CHECK(has(job.causes(), Cause::went_on));
}

TEST_CASE("job watch, healthy: every second iteration is long from the start on") {
  WatchedJob job(2);
  job.say_all("model is built", 0, Stage::model_build);
  std::int64_t last = 3000;
  for (int k = 1; k < 91; ++k) last = job.iterate_all(k, k, last + (k % 2 == 0 ? 1000 : 2000));
  CHECK(job.causes().empty());
}

TEST_CASE("job watch: after an iteration that took long a look is worth it, and nothing is wrong") {
  WatchedJob job(2);
  std::int64_t last = trained(job);
  CHECK_FALSE(job.watch.look_from());
  last = job.iterate_all(31, 31, last + 6000);
  REQUIRE(job.watch.look_from());
  CHECK(*job.watch.look_from() > after(last));
  CHECK(*job.watch.look_from() <= after(last + 3000));
  CHECK(job.causes().empty());
  job.diagnosed(State::healthy);  // before the lines of all ranks have come
  CHECK(job.watch.look_from());
  last = job.iterate_all(32, 40, last + 1000);
  job.diagnosed(State::healthy);
  CHECK_FALSE(job.watch.look_from());
  job.say_all("saving a checkpoint", last + 100, Stage::checkpoint_save);
  job.iterate_all(41, 50, last + 7000);
  CHECK_FALSE(job.watch.look_from());
}

TEST_CASE("job watch: a job that was slow and is quick again has gone on") {
  WatchedJob job(2);
  job.answer = State::slow;
  std::int64_t last = trained(job);
  last = job.iterate_all(31, 38, last + 2000, 2000);
  CHECK(has(job.causes(), Cause::slower));
  job.iterate_all(39, 60, last + 1000, 1000);
  CHECK(has(job.causes(), Cause::went_on));
}

TEST_CASE("job watch, healthy: every tenth iteration saves a checkpoint of 5 s") {
  WatchedJob job(2);
  std::int64_t last = trained(job);
  for (int k = 31; k < 131; k += 10) last = job.iterate_all(k, k + 9, last + 5000);
  CHECK(job.causes().empty());
}

TEST_CASE("job watch: a time in which nobody was heard is no pause of the job") {
  for (const bool told : {true, false}) {
    CAPTURE(told);
    WatchedJob job(2);
    std::int64_t last = trained(job);
    const Millis before = job.watch.standing(after(last)).deadline;
    if (told) job.watch.unheard();
    last = job.iterate_all(31, 60, last + 30'000);
    const Millis now = job.watch.standing(after(last)).deadline;
    CHECK((told ? now == before : now >= Millis{60'000}));
  }
}

TEST_CASE("job watch: a lost agent is told at once, and that it is back once the job goes on") {
  WatchedJob job(3);
  std::int64_t last = trained(job);
  job.watch.agent_lost("node-1", after(last));
  job.run_to(last + 100);
  CHECK(job.trigger(Cause::node_lost).node == "node-1");
  CHECK(job.causes() == Causes{Cause::node_lost});
  CHECK(job.watch.live(after(last + 100)).lost.size() == 1);
  SUBCASE("the others went on without it") {
    last = job.iterate_all(31, 33, last + 1000);
    job.watch.agent_back("node-1", after(last + 5000));
    job.run_to(last + 5000);
    CHECK(job.causes() == Causes{Cause::went_on});
    CHECK(job.watch.live(after(last + 5000)).lost.empty());
  }
  SUBCASE("it has last words, and nothing goes on for a while") {
    job.watch.agent_back("node-1", after(last + 3000));
    job.iterate(1, 31, last + 3100);
    job.iterate(1, 32, last + 3200);
    job.iterate(1, 33, last + 3300);
    CHECK(job.causes().empty());
    REQUIRE(job.watch.live(after(last + 3300)).lost.size() == 1);
    CHECK(job.watch.live(after(last + 3300)).lost[0].back);
    job.iterate_all(34, 35, last + 9000);
    CHECK(job.causes() == Causes{Cause::went_on});
    CHECK(job.watch.live(after(last + 11'000)).lost.empty());
  }
}

TEST_CASE("job watch: an agent that is lost after the job has failed is not why") {
  for (const bool before : {true, false}) {
    CAPTURE(before);
    WatchedJob job(3);
    job.processes(0);
    const std::int64_t last = trained(job);
    job.answer = State::crashed;
    job.process(2, ProcessState::gone, last + 300, kKilled);
    CHECK(job.causes() == Causes{Cause::process_left});
    job.watch.agent_lost("node-1", after(last + (before ? 200 : 10'000)));
    job.run_to(last + 21'000);
    CHECK(job.causes() == (before ? Causes{Cause::node_lost} : Causes{}));
    REQUIRE(job.watch.live(after(last + 21'000)).lost.size() == 1);
    CHECK(job.watch.live(after(last + 21'000)).lost[0].late == !before);
    if (before) continue;
    job.watch.agent_back("node-1", after(last + 30'000));
    job.run_to(last + 31'000);
    CHECK(job.causes().empty());
    CHECK(job.watch.live(after(last + 31'000)).lost.empty());
  }
}

TEST_CASE("job watch: nor is one that is lost after lines alone told of the failure") {
  for (const State answer : {State::crashed, State::hung}) {
    CAPTURE(answer);
    WatchedJob job(3);
    const std::int64_t last = trained(job);
    job.answer = answer;
    job.say(2, "RuntimeError: CUDA error: device-side assert triggered", last + 300, Level::error);
    job.run_to(last + 4000);
    job.watch.agent_lost("node-1", after(last + 10'000));
    job.run_to(last + 21'000);
    REQUIRE(job.watch.live(after(last + 21'000)).lost.size() == 1);
    CHECK(job.watch.live(after(last + 21'000)).lost[0].late == (answer == State::crashed));
  }
}

TEST_CASE("job watch: a node that falls silent while the others go on") {
  WatchedJob job(3);
  std::int64_t last = trained(job);
  for (int k = 31; k < 50; ++k) {
    last += 1000;
    job.iterate(0, k, last);
    job.iterate(1, k, last + 10);
  }
  CHECK(job.trigger(Cause::node_lost).node == "node-2");
  CHECK(job.causes() == Causes{Cause::node_lost});
}

TEST_CASE("job watch, healthy: a node that has not spoken since the start") {
  WatchedJob job(3);
  job.say_all("model is built", 0, Stage::model_build);
  std::int64_t last = 3000;
  for (int k = 1; k < 90; ++k) job.iterate(0, k, last += 1000);
  CHECK(job.causes().empty());
}

TEST_CASE("job watch: a process that was killed is told at once") {
  WatchedJob job(3);
  job.processes(0);
  const std::int64_t last = trained(job);
  job.process(2, ProcessState::gone, last + 300, kKilled);
  CHECK(job.due_at(Cause::process_left) == last + 300);
  CHECK(job.trigger(Cause::process_left).rank == Rank{2});
  CHECK(job.trigger(Cause::process_left).detail.find("SIGKILL") != std::string::npos);
}

TEST_CASE("job watch: all left with 0 is an end, and nobody left badly") {
  WatchedJob job(3);
  job.answer = State::finished;
  job.processes(0);
  const std::int64_t last = trained(job);
  for (int node = 0; node < 3; ++node)
    job.process(node, ProcessState::gone, last + 100 * node, kWell);
  job.run_to(last + 300'000);
  CHECK(job.causes() == Causes{Cause::ended});
}

TEST_CASE("job watch: a restart is another attempt, whose start may take its time") {
  WatchedJob job(2);
  job.processes(0);
  std::int64_t last = trained(job);
  job.answer = State::crashed;
  job.process(1, ProcessState::gone, last + 300, kKilled);
  CHECK(job.causes() == Causes{Cause::process_left});
  job.answer = State::healthy;
  for (int node = 0; node < 2; ++node) job.restart(node, 1);
  job.processes(last + 5000, 1);
  // A late fact about the former attempt.
  job.process(0, ProcessState::gone, last + 6000, kKilled, 0);
  job.say_all("building model", last + 8000, Stage::model_build);
  last = job.iterate_all(20, 40, last + 40'000);
  CHECK(job.causes() == Causes{Cause::went_on});
  job.run_to(last + 11'000);
  CHECK(job.causes() == Causes{Cause::silent});
}

TEST_CASE("job watch: after a restart of the aggregator pauses are known from the state") {
  WatchedJob job(3);
  const std::int64_t last = trained(job);
  JobWatch again(test::quick_options());
  again.resumed(job.state, after(last + 20'000));
  CHECK(again.due(after(last + 29'000)).empty());
  const auto due = again.due(after(last + 30'500));
  REQUIRE(due.size() == 1);
  CHECK(due[0].cause == Cause::silent);
}

namespace {

/// Replaces the watch by one loaded from its saved bytes.
void reload(WatchedJob& job) {
  ByteWriter saved;
  job.watch.save(saved);
  JobWatch loaded(test::quick_options());
  ByteReader in(saved.bytes());
  loaded.load(in);
  REQUIRE(in.ok());
  CHECK(in.left() == 0);
  job.watch = std::move(loaded);
}

void check_same(const WatchedJob& a, const WatchedJob& b, std::int64_t ms) {
  INFO("at ", ms);
  const diagnose::Live left = a.watch.live(after(ms)), right = b.watch.live(after(ms));
  CHECK(left.progress == right.progress);
  CHECK(left.deadline == right.deadline);
  CHECK(left.overdue == right.overdue);
  CHECK(left.confirmed == right.confirmed);
  CHECK(left.typical == right.typical);
  REQUIRE(left.lost.size() == right.lost.size());
  for (std::size_t i = 0; i < left.lost.size(); ++i) {
    CHECK(left.lost[i].agent == right.lost[i].agent);
    CHECK(left.lost[i].heard == right.lost[i].heard);
  }
  CHECK(a.watch.waits_text() == b.watch.waits_text());
}

}  // namespace

TEST_CASE("job watch: saved and loaded again and again it knows what it knew") {
  const std::vector<std::function<void(WatchedJob&)>> script{
      [](WatchedJob& job) { job.processes(0); },
      [](WatchedJob& job) { job.say_all("model is built", 1'000, Stage::model_build); },
      [](WatchedJob& job) { job.iterate_all(1, 12, 3'000); },
      [](WatchedJob& job) { job.say(0, "saving", 14'600, Level::info, Stage::checkpoint_save); },
      [](WatchedJob& job) { job.iterate_all(13, 40, 21'000, 700); },
      [](WatchedJob& job) { job.process(1, ProcessState::stopped, 41'000); },
      [](WatchedJob& job) { job.run_to(44'500); },
      [](WatchedJob& job) { job.process(1, ProcessState::sleeping, 45'000); },
      [](WatchedJob& job) { job.say(2, "CUDA error: out of memory", 46'000, Level::error); },
      [](WatchedJob& job) { job.watch.agent_lost("node-2", after(46'500)); },
      [](WatchedJob& job) { job.run_to(60'000); },
      [](WatchedJob& job) { job.watch.agent_back("node-2", after(60'500)); },
      [](WatchedJob& job) { job.process(0, ProcessState::gone, 61'000, kKilled); },
      [](WatchedJob& job) { job.watch.agent_lost("node-1", after(64'000)); },
      [](WatchedJob& job) { job.run_to(70'000); },
      [](WatchedJob& job) { job.processes(71'000, 1); },
      [](WatchedJob& job) { job.iterate_all(35, 60, 75'000, 900); },
      [](WatchedJob& job) { job.say(2, "CUDA error: out of memory", 99'000, Level::error); },
  };
  WatchedJob whole(3), cut(3);
  for (const auto& part : script) {
    part(whole);
    part(cut);
    reload(cut);
    for (const std::int64_t later : {0, 5'000, 11'000, 40'000, 200'000})
      check_same(whole, cut, whole.now + later);
  }
}

TEST_CASE("job watch: bytes that break off are refused") {
  WatchedJob job(3);
  trained(job);
  job.processes(40'000);
  job.say(1, "CUDA error: out of memory", 41'000, Level::error);
  ByteWriter saved;
  job.watch.save(saved);
  for (std::size_t size = 0; size < saved.size(); size += 1 + size / 64) {
    JobWatch loaded(test::quick_options());
    ByteReader in(saved.bytes().first(size));
    loaded.load(in);
    CHECK_FALSE(in.ok());
  }
}

}  // namespace l4::watch
