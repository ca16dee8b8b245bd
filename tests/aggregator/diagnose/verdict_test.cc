// The states of made jobs.
#include "aggregator/diagnose/verdict.h"

#include <doctest/doctest.h>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/faults/library.h"
#include "tests/aggregator/diagnose/made_faults.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using job::test::MadeJob;
using job::test::Say;

/// Lines that sound like a failure although the job goes on.
faults::Fault fast_path() {
  return fault("fast_path", Level::warning, "cannot use the fast path");
}

/// The first suspect of a job that has not gone on.
std::string first_node(MadeJob& job, const faults::Library& library) {
  Options options;
  options.library = &library;
  options.as_of = job::test::after(600'000);
  const Report report = diagnose(job.state(), {}, options).report;
  return report.nodes.empty() ? "" : report.nodes.front().node;
}

/// Four ranks start; rank 0 gives signs of progress, or prints iterations; rank 2 fails.
State state_after(int signs, bool counted) {
  MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank) {
    job.say(rank, {"initializing the process group"}, 0).stage = Stage::init;
    job.say(rank, {"building the model"}, 5'000).stage = Stage::model_build;
  }
  std::int64_t now = 20'000;
  for (int k = 1; k <= signs; ++k) job.iterate(0, k, now += 1'000).counted = counted;
  const Say failure{"Traceback (most recent call last): RuntimeError: bad", Level::fatal};
  job.say(2, failure, now + 2'000);
  return diagnose(job.state(), {}, {}).report.verdict.state;
}

TEST_CASE("verdict: a sign or two that training begins is no training") {
  for (const int signs : {0, 1, 2}) CHECK(state_after(signs, true) == State::launch_failed);
  for (const int signs : {3, 20}) CHECK(state_after(signs, true) == State::crashed);
}

TEST_CASE("verdict: an iteration that is printed is training") {
  for (const int iterations : {1, 2, 20}) CHECK(state_after(iterations, false) == State::crashed);
}

TEST_CASE("verdict: kind 'one loss': a program that printed a loss has trained") {
  struct Row {
    wire::FigureKind kind;
    State state;
  };
  for (const Row& row : {Row{wire::FigureKind::loss, State::crashed},
                         Row{wire::FigureKind::loss_term, State::launch_failed},
                         Row{wire::FigureKind::rate, State::launch_failed}}) {
    MadeJob job(1);
    for (int i = 0; i < 60; ++i) job.say(0, {"reading the settings"}, i * 100);
    job.say(0, {"building the model"}, 6'000).stage = Stage::model_build;
    wire::FigureWindow window;
    window.kind = row.kind;
    window.name = "printed";
    window.count = 1;
    window.least = window.median = window.most = window.final = 2.5;
    job.say(0, {"now at <*>, printed <*>"}, 9'000);
    window.source = job.source_of(0).id;
    job.figures_of(0).push_back(window);
    job.say(0, {"Traceback (most recent call last): RuntimeError: bad", Level::fatal}, 10'000);
    CHECK(diagnose(job.state(), {}, {}).report.verdict.state == row.state);
  }
}

TEST_CASE("verdict: kind 'bare numbers': a program that prints little else has trained") {
  for (const int numbers : {30, 49, 50, 400}) {
    MadeJob job(1);
    job.say(0, {"reading the settings"});
    for (int i = 0; i < numbers; ++i) job.say(0, {"<*>"});
    job.say(0, {"Traceback (most recent call last): RuntimeError: bad", Level::fatal});
    CHECK((diagnose(job.state(), {}, {}).report.verdict.state == State::crashed) ==
          (numbers >= 50));
  }
}

TEST_CASE("verdict: kind 'failed at work': who evaluates for long before it fails did not hang") {
  for (const bool works : {true, false}) {
    MadeJob job(1);
    for (int k = 1; k <= 20; ++k) job.iterate(0, k, k * 1000);
    std::string text = "found";
    for (int i = 0; i < 180; ++i) {
      if (works) text = i % 12 == 0 ? "found" : text + " this";
      job.say(0, {text}, 25'000 + i * 2'000);
    }
    job.say(0, {"FileNotFoundError: pool/index is missing", Level::error}, 400'000);
    const State state = diagnose(job.state(), {}, {}).report.verdict.state;
    CHECK(state == (works ? State::crashed : State::hung));
  }
}

TEST_CASE("verdict: kind 'closed late': words for a good end behind a silent evaluation") {
  for (const char* text : {"======== End of evaluation of net/a ========", "Training took 3:12:05",
                           "Final model saved to out/final"})
    for (const bool last : {true, false}) {
      CAPTURE(text);
      MadeJob job(1);
      for (int k = 1; k <= 20; ++k) job.iterate(0, k, k * 1000);
      job.say(0, {text, Level::unknown}, 4'000'000);
      for (int i = 0; i < 3 && !last; ++i) job.say(0, {"a line much later"}, 8'000'000 + i);
      const State state = diagnose(job.state(), {}, {}).report.verdict.state;
      CHECK((state == State::finished) == last);
    }
}

TEST_CASE("verdict: what the library knows as harmless ends no job, however it sounds") {
  const std::string text = "INFO: probe of an optional part failed: Traceback: fatal";
  for (const bool known : {true, false}) {
    CAPTURE(known);
    MadeJob job(4);
    job.iterate_all(1, 30);
    job.say(2, {text, Level::unknown}, 30'500);
    const auto library =
        faults::Library().with({fault("probe", Level::info, "probe of an optional part failed")});
    Options options;
    options.library = known ? &library : nullptr;
    options.as_of = job::test::after(34'000);
    const State state = diagnose(job.state(), {}, options).report.verdict.state;
    CHECK((state == State::crashed) == !known);
  }
}

TEST_CASE("verdict: kind 'cut': one new line long behind the last iteration tells of no hang") {
  for (const char* text : {"collects garbage", "writes a summary", "root -"})
    for (const bool many : {false, true}) {
      CAPTURE(text);
      MadeJob job(2);
      job.iterate_all(1, 30);
      const int lines = many ? 5 : 1;
      for (int i = 0; i < lines; ++i) job.say(1, {text, Level::unknown}, 7'000'000 + i * 600'000);
      const State state = diagnose(job.state(), {}, {}).report.verdict.state;
      CHECK((state == State::hung) == many);
    }
}

TEST_CASE("verdict: where healthy runs end without a word, a short silence may be the end") {
  MadeJob job(4), quiet(4), telling(4);
  for (MadeJob* each : {&job, &quiet, &telling}) each->iterate_all(1, 30);
  telling.say(0, {"training done", Level::info, wire::kMarkFinished}, 30'500);
  Options options;
  const auto state_at = [&](std::int64_t ms, MadeJob& healthy) {
    options.as_of = job::test::after(ms);
    return diagnose(job.state(), {&healthy.state()}, options).report.verdict.state;
  };
  CHECK(state_at(72'000, telling) == State::hung);
  CHECK(state_at(72'000, quiet) == State::healthy);
  CHECK(state_at(95'000, quiet) == State::hung);
}

TEST_CASE("verdict: where something was fatal, a warning of one node does not lead") {
  MadeJob job(10);
  job.iterate_all(1, 30);
  for (const int rank : {2, 3, 4})
    job.say(rank, {"AttributeError: no such thing", Level::error}, 30'500);
  job.say(7, {"warning: untested version", Level::warning}, 30'900);
  const Report report = diagnose(job.state(), {}, {}).report;
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes.front().node == "node-2");
}

TEST_CASE("verdict: a known fault that the job lives with does not lead, however early") {
  MadeJob job(6);
  job.iterate_all(1, 30);
  job.say(4, {"cannot use the fast path", Level::error}, 30'200);
  for (const int rank : {1, 2})
    job.say(rank, {"AttributeError: no such thing", Level::error}, 33'000);
  CHECK(first_node(job, faults::Library().with({fast_path()})) == "node-1");
}

TEST_CASE("verdict: where nothing shows that a job ended, an error that nobody knows is no event") {
  for (const char* text :
       {"cannot load it", "Error applying the template", "push of metrics failed"}) {
    MadeJob job(6);
    job.iterate_all(1, 30);
    job.say(4, {text, Level::error}, 30'200);
    const Report report = diagnose(job.state(), {}, {}).report;
    CHECK(report.verdict.state == State::unknown);
    CHECK(report.events.empty());
    CHECK(first_node(job, faults::Library()) == "node-4");
  }
}

TEST_CASE("verdict: a printed warning does not lead, however it is worded, but for one of NCCL") {
  for (const bool nccl : {false, true}) {
    CAPTURE(nccl);
    MadeJob job(6);
    job.iterate_all(1, 30);
    const std::string text =
        nccl ? "NCCL WARN NET/IB : completion with error 12" : "cannot load it";
    job.say(4, {text, Level::warning}, 30'200);
    job.say(1, {"the server could not be reached", Level::error}, 33'000);
    CHECK(first_node(job, faults::Library()) == (nccl ? "node-4" : "node-1"));
  }
}

TEST_CASE("verdict: who says that a peer is gone leads while there is no cause") {
  for (const bool caused : {false, true}) {
    CAPTURE(caused);
    MadeJob job(6);
    job.iterate_all(1, 30);
    job.say(4, {"cannot use the fast path", Level::error}, 30'200);
    job.say(1, {"connection to the peer is lost", Level::error}, 31'000);
    if (caused) job.say(5, {"AttributeError: no such thing", Level::error}, 33'000);
    faults::Fault accuser = fault("peer_gone", Level::fatal, "connection to the peer is lost");
    accuser.accuses_peer = true;
    const auto library = faults::Library().with({fast_path(), accuser});
    CHECK(first_node(job, library) == (caused ? "node-5" : "node-1"));
  }
}

/// Six nodes; rank 0 on the first node prints that `hosts` are gone, and node-4 falls silent.
Report told_of(const std::vector<std::string>& hosts, bool known, bool blamed = false) {
  MadeJob job(6);
  job.iterate_all(1, 30);
  for (const int rank : {0, 1, 2, 3, 5}) {
    job.iterate(rank, 31, 31'000);
    job.say(rank, {"RuntimeError: connection lost", Level::error}, 40'000);
  }
  wire::Segment& said = job.say(0, {"error: node failure", Level::error}, 50'000);
  for (const std::string& host : hosts)
    said.parameters.push_back(
        {said.events.front().id, 1, {{wire::ParameterKind::host, host, blamed}}});
  faults::Fault failure = fault("node_failure", Level::fatal, "error: node failure");
  failure.category = faults::Category::hardware;
  failure.subcategory = "node";
  const auto library = faults::Library().with({failure});
  Options options;
  if (known) options.library = &library;
  return diagnose(job.state(), {}, options).report;
}

/// The first event that is reported of a job that says these lines behind its last iteration.
std::string first_event(const std::vector<Say>& lines, const faults::Library& library) {
  MadeJob job(1);
  job.iterate_all(1, 30);
  std::int64_t now = 31'000;
  for (const Say& line : lines) job.say(0, line, now += 100);
  Options options;
  options.library = &library;
  const Report report = diagnose(job.state(), {}, options).report;
  for (std::size_t i = 1; i < report.events.size(); ++i)
    CHECK((report.events[i].role != report.events[i - 1].role ||
           report.events[i].score <= report.events[i - 1].score));
  return report.events.empty() ? "" : report.events.front().text;
}

TEST_CASE("verdict: kind 'heading': what only announces a failure does not lead") {
  const Say fact{"RuntimeError: the shards differ", Level::error};
  for (const char* heading : {"Error Message Summary:", "Summary of the failure:",
                              "Exception details:", "Crash report:"}) {
    CAPTURE(heading);
    CHECK(first_event({{heading}, fact}, {}) == fact.text);
  }
}

TEST_CASE("verdict: kind 'only consequences': the first leads, and quiet lines stand behind them") {
  faults::Fault told = fault("told", Level::error, "was told to stop");
  faults::Fault ended = fault("ended", Level::fatal, "ends its process");
  told.consequence = ended.consequence = true;
  const auto library = faults::Library().with({told, ended});
  for (const char* quiet : {"Stopping the run", "run summary: 12 values", "synced 3 files"}) {
    CAPTURE(quiet);
    const Say first{"the agent was told to stop", Level::warning};
    const Say second{"the agent ends its process", Level::error};
    CHECK(first_event({{quiet}, first, {quiet}, second, {"uploads the rest"}}, library) ==
          first.text);
  }
}

TEST_CASE("verdict: kind 'only consequences': a wrapper stands behind what it wraps") {
  faults::Fault wrapper = fault("wrapper", Level::fatal, "the launched program");
  faults::Fault inner = fault("inner", Level::fatal, "of another process");
  wrapper.general = true;
  inner.consequence = true;
  const auto library = faults::Library().with({wrapper, inner});
  for (const char* said : {"ActorUnavailableError: the end of another process was seen",
                           "EOFError: the pipe of another process is closed",
                           "WorkerLostError: the answer of another process did not come"}) {
    CAPTURE(said);
    const Say first{"the launched program ended with an error", Level::error};
    CHECK(first_event({first, {said, Level::error}}, library) == said);
  }
}

TEST_CASE("verdict: kind 'caught': an exception that a logger prints as a warning was survived") {
  faults::Fault backend = fault("backend", Level::fatal, "BackendFailed");
  backend.category = faults::Category::framework;
  backend.subcategory = "bug";
  const auto library = faults::Library().with({backend, stop("limit is over", "the run limit")});
  for (const char* caught :
       {"compile: [WARNING] BackendFailed: backend='x' raised", "BackendFailed: no tool 'ld'",
        "BackendFailed: the graph is not supported"}) {
    CAPTURE(caught);
    const Say end{"the time limit is over", Level::unknown};
    CHECK(first_event({{caught, Level::warning}, end}, library) == end.text);
    CHECK(first_event({{caught, Level::error}, end}, library) == caught);
  }
}

TEST_CASE("verdict: who is named by another leads, and is lost if it says nothing") {
  for (const std::string host : {"node-4", "node-4.cluster"}) {
    CAPTURE(host);
    CHECK(told_of({host}, true).verdict.state == State::node_lost);
    for (const bool known : {true, false}) {
      const Report report = told_of({host}, known);
      REQUIRE_FALSE(report.nodes.empty());
      CHECK(report.nodes.front().node == "node-4");
      REQUIRE_FALSE(report.nodes.front().why.empty());
      CHECK(report.nodes.front().why.front() == "is named by node-0: \"error: node failure\"");
      CHECK(report.events.front().role == Role::root);
    }
  }
}

TEST_CASE("verdict: kind 'a node whose logs were not read': it is lost if a known fault says so") {
  CHECK(told_of({"node-44"}, true, true).verdict.state == State::node_lost);
  CHECK(told_of({"node-44"}, false, true).verdict.state == State::crashed);
  CHECK(told_of({"head.cluster"}, true, true).verdict.state == State::crashed);
}

TEST_CASE("verdict: who names itself, nobody of the job, or half of it, accuses nobody") {
  using Hosts = std::vector<std::string>;
  for (const Hosts& hosts : {Hosts{}, Hosts{"node-0"}, Hosts{"node-0", "node-4"}, Hosts{"node-44"},
                             Hosts{"node-2", "node-4"}}) {
    const Report report = told_of(hosts, true);
    REQUIRE_FALSE(report.nodes.empty());
    CHECK(report.nodes.front().node == "node-0");
    CHECK(report.verdict.state == State::crashed);
  }
}

TEST_CASE("verdict: a node without a complaint is lost only where chance leaves none quiet") {
  constexpr int kNodes = 6, kRanks = 8, kQuiet = 4;
  const auto state_if = [&](int each, int quiet_end_ms, int shift = 0) {
    MadeJob job(kNodes, kRanks);
    job.iterate_all(1, 30);
    for (int rank = 0; rank < kNodes * kRanks; ++rank) {
      if (rank / kRanks == kQuiet) {
        job.say(rank, {"batch read"}, quiet_end_ms);
        continue;
      }
      job.iterate(rank, 31, 31'000);
      if ((rank + shift * (rank / kRanks)) % each == 0)
        job.say(rank, {"RuntimeError: timed out waiting", Level::error}, 40'000);
    }
    faults::Fault waited = fault("waited", Level::error, "timed out waiting");
    waited.consequence = true;
    const auto library = faults::Library().with({waited});
    Options options;
    options.library = &library;
    return diagnose(job.state(), {}, options).report.verdict.state;
  };
  for (const int end : {20'000, 30'500}) {
    CAPTURE(end);
    CHECK(state_if(1, end) == State::node_lost);
    CHECK(state_if(2, end) == State::node_lost);     // 4 of 8 on each: hardly by chance
    CHECK(state_if(8, end) == State::node_lost);     // the first of each node but one
    CHECK(state_if(8, end, 1) != State::node_lost);  // one of 8, anywhere
  }
}

TEST_CASE("verdict: kind 'passed': a job on its pace that goes on behind an error did not crash") {
  for (const char* text : {"FATAL: lost the device", "RuntimeError: no such peer"})
    for (const std::int64_t looked : {30'500, 90'000}) {
      CAPTURE(text);
      CAPTURE(looked);
      MadeJob job(4);
      job.iterate_all(1, 29);
      job.say(1, {text, Level::fatal}, 28'500);
      for (int rank = 0; rank < 4; ++rank) job.iterate(rank, 30, 30'000);
      Options options;
      options.as_of = job::test::after(looked);
      const State state = diagnose(job.state(), {}, options).report.verdict.state;
      CHECK((state == State::healthy) == (looked < 40'000));
    }
}

}  // namespace
}  // namespace l4::diagnose
