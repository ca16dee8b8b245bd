// Facts of a live watch beside the state, in the verdict and among the suspects.
#include "aggregator/diagnose/findings/live.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/faults/library.h"
#include "tests/aggregator/watch/watched_job.h"

namespace l4::diagnose {
namespace {

using watch::test::after;
using watch::test::WatchedJob;
using wire::Exit;
using wire::ProcessState;

constexpr Exit kKilled{Exit::Kind::signal, 9, Exit::Seen::zombie};
constexpr Exit kTold{Exit::Kind::signal, 15, Exit::Seen::zombie};
constexpr Exit kFailed{Exit::Kind::code, 1, Exit::Seen::zombie};
constexpr Exit kWell{Exit::Kind::code, 0, Exit::Seen::zombie};
constexpr const char* kTraceback = "Traceback (most recent call last): RuntimeError: bad";

/// Four nodes with a process each, iterations 1 to 30, the last at 33.03 s.
struct Trained : WatchedJob {
  explicit Trained(bool with_processes = true) : WatchedJob(4) {
    if (with_processes) processes(0);
    iterate_all(1, 30, 4000);
  }
  Report report_at(std::int64_t ms, const faults::Library* library = nullptr) {
    run_to(ms);
    Options options;
    options.library = library;
    options.as_of = after(now);
    options.live = watch.live(after(now));
    return diagnose(state, {}, options).report;
  }
  std::int64_t last() const { return 33'030; }
};

}  // namespace

TEST_CASE("live: a job that goes on is healthy") {
  Trained job;
  CHECK(job.report_at(job.last() + 500).verdict.state == State::healthy);
}

TEST_CASE("live: a killed process is a crash without any line, and its rank the first suspect") {
  Trained job;
  job.process(2, ProcessState::gone, job.last() + 400, kKilled);
  for (const int node : {0, 1, 3}) job.process(node, ProcessState::gone, job.last() + 900, kTold);
  const Report report = job.report_at(job.last() + 1000);
  CHECK(report.verdict.state == State::crashed);
  CHECK(report.verdict.since == after(job.last() + 400));
  CHECK(report.verdict.confidence > 0.8);
  REQUIRE_FALSE(report.ranks.empty());
  CHECK(report.ranks[0].rank == Rank{2});
  CHECK(report.ranks[0].process == Process::gone);
  REQUIRE_FALSE(report.ranks[0].why.empty());
  CHECK(report.ranks[0].why[0].find("SIGKILL") != std::string::npos);
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes[0].node == "node-2");
}

TEST_CASE("live: lines of other ranks that are on their way do not make a crash older") {
  Trained job;
  for (const std::int64_t k : {31, 32, 33}) {
    job.iterate(2, k, job.last() + (k - 30) * 100);
    if (k == 31) job.iterate(1, k, job.last() + 100);
  }
  job.process(2, ProcessState::gone, job.last() + 400, kKilled);
  const Report report = job.report_at(job.last() + 500);
  CHECK(report.verdict.state == State::crashed);
  REQUIRE(report.verdict.iteration);
  CHECK(report.verdict.iteration->value() >= 33);
}

TEST_CASE(
    "live: a struck process is a known fault without any line; one that was confirmed first") {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  const auto first_with = [](const faults::Library& known, const Exit& exit, bool told) {
    Trained job;
    job.process(2, ProcessState::gone, job.last() + 400, exit);
    if (told)
      job.say(2,
              "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) "
              "local_rank: 0 (pid: 41213) of binary: /usr/bin/python3",
              job.last() + 500, Level::error);
    for (const int node : {0, 1, 3}) job.process(node, ProcessState::gone, job.last() + 900, kTold);
    const Report report = job.report_at(job.last() + 1000, &known);
    return report.faults.empty() ? "" : report.faults[0].id;
  };
  CHECK(first_with(*library, kKilled, false) == "process_killed");
  CHECK(first_with(*library, Exit{Exit::Kind::signal, 11, Exit::Seen::zombie}, false) ==
        "segmentation_fault");
  // The process chose its exit code, and its log has the reason.
  CHECK(first_with(*library, kFailed, false).empty());
  faults::Fault site;
  site.id = "site_script";
  site.title = "A script killed it";
  site.patterns = {R"(its process is gone since .* signal 9 \(SIGKILL\))"};
  site.severity = Level::fatal;
  site.confirmed = faults::Confirmation{"ops", {}, "before.0.1"};
  const faults::Library more = library->with({site});
  CHECK(first_with(more, kKilled, false) == "site_script");
  CHECK(first_with(*library, kKilled, true) == "process_killed");
  CHECK(first_with(more, kKilled, true) == "site_script");
}

TEST_CASE("live: a struck process, and the line that tells of it, lead over what peers lost") {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  const std::string elastic = "torch.distributed.elastic.multiprocessing.";
  for (const bool told : {true, false}) {
    CAPTURE(told);
    Trained job;
    job.process(2, ProcessState::gone, job.last() + 400, kKilled);
    for (const int node : {0, 1, 3}) {
      job.say(node, "RuntimeError: [pair.cc:598] Connection closed by peer [10.7.0.1]:36",
              job.last() + 500, Level::error);
      job.process(node, ProcessState::gone, job.last() + 900, kFailed);
    }
    if (told)
      job.say(2,
              "ERROR:" + elastic + "api:failed (exitcode: -9) local_rank: 0 (pid: 41) of binary: p",
              job.last() + 3000, Level::error);
    job.say(2, elastic + "errors.ChildFailedError:", job.last() + 3000, Level::error);
    const Report report = job.report_at(job.last() + 3100, &*library);
    CHECK(report.verdict.summary.contains("SIGKILL"));
    CHECK(report.nodes.at(0).node == "node-2");
    REQUIRE_FALSE(report.events.empty());
    CHECK(report.events[0].text.contains("exitcode: -9") == told);
    CHECK(std::ranges::count(report.events, Role::root, &IndicatingEvent::role) == (told ? 1 : 0));
  }
}

TEST_CASE("live: ordinary lines from before a process was killed do not lead over it") {
  Trained job;
  for (const char* line : {"***** Running Evaluation *****", "validation perplexity is 330"})
    job.say(0, line, job.last() + 100);
  job.process(2, ProcessState::gone, job.last() + 400, kKilled);
  const Report report = job.report_at(job.last() + 500);
  CHECK(report.verdict.state == State::crashed);
  CHECK(report.events.empty());
  CHECK(report.ranks.at(0).rank == Rank{2});
  CHECK(report.verdict.summary.contains("SIGKILL"));
}

TEST_CASE("live: who leaves after complaining of a peer is no first suspect, even if seen first") {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  const std::string closed = "RuntimeError: [pair.cc:598] Connection closed by peer [10.7.0.1]:36";
  for (const Exit& exit : {kKilled, kFailed, Exit{}}) {
    Trained job;
    job.say(0, closed, job.last() + 200, Level::error);
    job.process(0, ProcessState::gone, job.last() + 300, kFailed);
    job.say(3, closed, job.last() + 400, Level::error);
    job.process(3, ProcessState::gone, job.last() + 500, kFailed);
    job.process(2, ProcessState::gone, job.last() + 700, exit);
    const Report report = job.report_at(job.last() + 900, &*library);
    CHECK(report.verdict.state == State::crashed);
    CHECK(report.ranks.at(0).rank == Rank{2});
    CHECK(report.nodes.at(0).node == "node-2");
  }
}

TEST_CASE(
    "live: who was struck before others ended leads them, whatever is special in their words") {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  const std::string closed = "RuntimeError: [pair.cc:598] Connection closed by peer [10.7.0.1]:36";
  const char* const reset =
      "RuntimeError: [pair.cc:589] Read error [10.7.0.2]:3: Connection reset by peer";
  const auto first_with = [&](std::int64_t struck, const Exit& exit) {
    Trained job;
    job.process(1, ProcessState::gone, job.last() + struck, exit);
    for (const int node : {0, 2}) job.say(node, closed, job.last() + 200, Level::error);
    job.say(3, reset, job.last() + 300, Level::error);
    job.say(3, "W of the prefetcher, seen nowhere else", job.last() + 310, Level::warning);
    for (const int node : {0, 2, 3})
      job.process(node, ProcessState::gone, job.last() + 800, kFailed);
    return job.report_at(job.last() + 1000, &*library).nodes.at(0).node;
  };
  CHECK(first_with(40, kKilled) == "node-1");
  CHECK(first_with(40, Exit{Exit::Kind::signal, 11, Exit::Seen::zombie}) == "node-1");
}

TEST_CASE("live: a stopped process is the first suspect of the hang, whatever others say") {
  Trained job;
  job.process(1, ProcessState::stopped, job.last() + 100);
  CHECK(job.report_at(job.last() + 5000).verdict.state == State::healthy);
  const Report hung = job.report_at(job.last() + 10'500);
  CHECK(hung.verdict.state == State::hung);
  CHECK(hung.verdict.confidence > 0.5);  // other evidence confirms the hang
  CHECK(hung.ranks.at(0).rank == Rank{1});
  CHECK(hung.ranks.at(0).process == Process::stopped);
  for (const int node : {0, 2, 3}) {
    job.say(node, "RuntimeError: Timed out waiting for peers", job.last() + 30'000, Level::error);
    job.process(node, ProcessState::gone, job.last() + 30'100, kFailed);
  }
  const Report ended = job.report_at(job.last() + 31'000);
  CHECK(ended.verdict.state == State::hung);
  CHECK(ended.ranks.at(0).rank == Rank{1});
}

TEST_CASE("live: silence is a hang from the learned deadline on, and sure from the second") {
  Trained job;
  CHECK(job.report_at(job.last() + 9'900).verdict.state == State::healthy);
  const Report suspected = job.report_at(job.last() + 10'100);
  CHECK(suspected.verdict.state == State::hung);
  CHECK(suspected.verdict.confidence < 0.5);
  CHECK(job.report_at(job.last() + 61'000).verdict.confidence > 0.5);
}

TEST_CASE("live: a traceback of a process that lives on is no crash") {
  Trained job;
  job.say(1, kTraceback, job.last() + 200, Level::error);
  CHECK(job.report_at(job.last() + 600).verdict.state == State::healthy);
  job.process(1, ProcessState::gone, job.last() + 900, kFailed);
  const Report report = job.report_at(job.last() + 1000);
  CHECK(report.verdict.state == State::crashed);
  CHECK(report.ranks.at(0).rank == Rank{1});
}

TEST_CASE("live: a process that takes long to leave has failed once others miss it") {
  const auto library = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  const char* const missed = "RuntimeError: [pair.cc:598] Connection closed by peer [10.7.0.1]:36";
  Trained job;
  job.say(1, kTraceback, job.last() + 200, Level::error);
  CHECK(job.report_at(job.last() + 4'000, &*library).verdict.state == State::healthy);
  job.say(2, missed, job.last() + 4'100, Level::error);
  const Report report = job.report_at(job.last() + 4'200, &*library);
  CHECK(report.verdict.state == State::crashed);
  CHECK(report.nodes.at(0).node == "node-1");

  Trained goes_on;
  goes_on.say(1, kTraceback, goes_on.last() + 200, Level::error);
  goes_on.say(2, missed, goes_on.last() + 300, Level::error);
  const std::int64_t last = goes_on.iterate_all(31, 33, goes_on.last() + 1000);
  CHECK(goes_on.report_at(last + 500, &*library).verdict.state == State::healthy);
}

TEST_CASE("live: where no process is known a traceback is a crash once nothing moves") {
  Trained job(false);
  job.say(1, kTraceback, job.last() + 200, Level::error);
  CHECK(job.report_at(job.last() + 600).verdict.state == State::healthy);
  CHECK(job.report_at(job.last() + 3'700).verdict.state == State::crashed);
}

TEST_CASE("live: all that left with 0 have finished, all that left unseen have not failed") {
  Trained job;
  for (int node = 0; node < 4; ++node)
    job.process(node, ProcessState::gone, job.last() + 100 * node, kWell);
  CHECK(job.report_at(job.last() + 1000).verdict.state == State::finished);
  Trained unseen;
  for (int node = 0; node < 4; ++node)
    unseen.process(node, ProcessState::gone, unseen.last() + 100 * node);
  CHECK(unseen.report_at(unseen.last() + 1000).verdict.state == State::healthy);
  CHECK(unseen.report_at(unseen.last() + 30'000).verdict.state == State::unknown);
}

TEST_CASE("live: the node of a lost agent is lost unless the job goes on without it") {
  Trained job;
  job.watch.agent_lost("node-3", after(job.last()));
  const Report report = job.report_at(job.last() + 11'000);
  CHECK(report.verdict.state == State::node_lost);
  CHECK(report.nodes.at(0).node == "node-3");
  // The agent is lost, so the exit is not seen.
  CHECK(report.ranks.at(0).process == Process::unknown);
  for (int k = 31; k < 36; ++k)
    for (int node = 0; node < 3; ++node) job.iterate(node, k, job.now + 300);
  CHECK(job.report_at(job.now + 100).verdict.state == State::healthy);
}

TEST_CASE("live: a crash stays one when an agent is lost afterwards") {
  for (const char* lost : {"node-2", "node-3"}) {
    CAPTURE(lost);
    Trained job;
    job.process(2, ProcessState::gone, job.last() + 400, kKilled);
    job.report_at(job.last() + 1000);
    job.watch.agent_lost(lost, after(job.last() + 20'000));
    const Report report = job.report_at(job.last() + 31'000);
    CHECK(report.verdict.state == State::crashed);
    REQUIRE_FALSE(report.ranks.empty());
    CHECK(report.ranks[0].rank == Rank{2});
    CHECK(report.ranks[0].process == Process::gone);
  }
}

TEST_CASE("live: ... nor one that lines alone tell of") {
  Trained job(false);
  job.say(2, kTraceback, job.last() + 400, Level::error);
  const Report before = job.report_at(job.last() + 6000);
  REQUIRE(before.verdict.state == State::crashed);
  job.watch.diagnosed(before, after(job.last() + 6000));
  job.watch.agent_lost("node-3", after(job.last() + 20'000));
  const Report report = job.report_at(job.last() + 31'000);
  CHECK(report.verdict.state == State::crashed);
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes[0].node == "node-2");
}

TEST_CASE("live: a lost node that is back without its ranks was lost") {
  Trained job;
  job.watch.agent_lost("node-3", after(job.last()));
  CHECK(job.report_at(job.last() + 11'000).verdict.state == State::node_lost);
  job.watch.agent_back("node-3", after(job.last() + 25'000));
  job.iterate(3, 31, job.last() + 25'200);  // read late
  SUBCASE("it started anew") {}
  SUBCASE("they ended unseen") {
    job.process(3, ProcessState::gone, job.last() + 25'300);
  }
  Report report = job.report_at(job.last() + 26'000);
  CHECK(report.verdict.state == State::node_lost);
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes[0].node == "node-3");
  for (const int node : {0, 1, 2}) {
    job.say(node, "RuntimeError: [../gloo] Connection closed by peer", job.last() + 40'000,
            Level::error);
    job.process(node, ProcessState::gone, job.last() + 40'100 + 10 * node, kFailed);
  }
  report = job.report_at(job.last() + 41'000);
  CHECK(report.verdict.state == State::node_lost);
  CHECK(report.verdict.scope == Scope::node);
  REQUIRE(report.verdict.since);
  // The loss of the node, not the time when the others gave up.
  CHECK(*report.verdict.since < after(job.last() + 30'000));
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes[0].node == "node-3");
}

}  // namespace l4::diagnose
