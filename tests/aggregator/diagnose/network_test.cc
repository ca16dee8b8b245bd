// What the network shows beside the logs, in the verdict, the suspects and the words of a report.
#include "aggregator/detect/network/network.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "aggregator/diagnose/diagnose.h"
#include "aggregator/serve/report_json.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::diagnose {
namespace {

using detect::network::Finding;
using detect::network::Network;
using detect::network::Trouble;
using job::test::MadeJob;

/// Four nodes that iterate each second and are silent from 60 s on; looked at ten minutes later.
struct Silent {
  Silent() {
    made.iterate_all(1, 60);
    for (int i = 0; i < 4; ++i) network.servers.push_back({"node-" + std::to_string(i), {}, {}});
    network.job = "flows-1";
    network.last = network.step = job::test::after(60'000);
    network.period = Millis{1'000};
    network.deadline = Millis{3'000};
    network.now = job::test::after(660'000);
  }
  Finding& find(Trouble trouble, std::vector<std::string> servers) {
    Finding finding;
    finding.trouble = trouble;
    finding.since = job::test::after(60'000);
    finding.open = finding.in_step = true;
    finding.places = finding.servers = std::move(servers);
    finding.steps = 5;
    return network.findings.emplace_back(std::move(finding));
  }
  Report report(bool with_network = true, std::int64_t ms = 660'000) {
    Options options;
    options.as_of = job::test::after(ms);
    options.network = with_network ? &network : nullptr;
    return diagnose(made.state(), {}, options).report;
  }
  MadeJob made{4};
  Network network;
};

const Notable* note(const Report& report, const std::string& kind) {
  const auto found = std::ranges::find(report.notable, kind, &Notable::kind);
  return found == report.notable.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("network: silent logs are no hang while steps go on, and a notice says so") {
  Silent job;
  CHECK(job.report(false).verdict.state == State::hung);
  CHECK(job.report().verdict.state == State::hung);
  job.network.last = job.network.step = job::test::after(659'000);
  const Report report = job.report();
  CHECK(report.verdict.state == State::healthy);
  REQUIRE(note(report, "network_steps") != nullptr);
  CHECK(note(report, "network_steps")->text.find("not a hang") != std::string::npos);
}

TEST_CASE("network: silent logs are no hang while a checkpoint is written") {
  Silent job;
  job.network.stored = job::test::after(655'000);
  const Report report = job.report();
  CHECK(report.verdict.state == State::healthy);
  CHECK(note(report, "network_storage") != nullptr);
}

TEST_CASE("network: transfers that end at once are a crash, a missing server is a hang") {
  Silent job;
  job.find(Trouble::crash, {});
  CHECK(job.report(true, 75'000).verdict.state == State::crashed);
  CHECK(job.report(false, 75'000).verdict.state == State::healthy);
  job.network.findings.clear();
  job.find(Trouble::hang, {"node-2"});
  const Report hung = job.report(true, 75'000);
  CHECK(hung.verdict.state == State::hung);
  REQUIRE_FALSE(hung.nodes.empty());
  CHECK(hung.nodes[0].node == "node-2");
  CHECK(hung.verdict.summary.find("The network shows a hang at node-2") != std::string::npos);
  CHECK(std::ranges::find(hung.clues, clues::ClueKind::network_first, &Clue::kind) !=
        hung.clues.end());
}

TEST_CASE(
    "network: a failure long behind the last transfer came after a hang, one at once did not") {
  Silent job;
  job.find(Trouble::stopped, {});
  job.made.say(1, {"RuntimeError: CUDA error: an illegal memory access", Level::error}, 70'000);
  CHECK(job.report(true, 75'000).verdict.state == State::hung);
  job.network.last = job::test::after(69'500);
  job.network.findings.front().since = job::test::after(69'500);
  CHECK(job.report(true, 75'000).verdict.state == State::crashed);
}

TEST_CASE("network: what contradicts the verdict is named by its time alone") {
  Silent job;
  job.find(Trouble::hang, {"node-2"});
  job.network.last = job::test::after(69'500);
  job.network.findings.front().since = job::test::after(69'500);
  job.made.say(1, {"RuntimeError: CUDA error: an illegal memory access", Level::fatal}, 70'000);
  const Report report = job.report(true, 75'000);
  REQUIRE(report.verdict.state == State::crashed);
  CHECK(report.verdict.summary.find("node-2") == std::string::npos);
  CHECK(report.verdict.summary.find("no transfer since") != std::string::npos);
}

TEST_CASE("network: a node that is silent in the logs and still sends is not lost") {
  for (const bool sends : {false, true}) {
    CAPTURE(sends);
    Silent job;
    for (int rank = 0; rank < 4; ++rank)
      if (rank != 2)
        job.made.say(rank, {"Watchdog caught collective operation timeout", Level::error}, 120'000);
    job.find(Trouble::hang, {"node-2"});
    if (sends) job.network.servers[2].last = job::test::after(200'000);
    const State state = job.report(true, 300'000).verdict.state;
    CHECK(state == (sends ? State::hung : State::node_lost));
  }
}

TEST_CASE("network: a slow link makes a job slow whose iterations go on") {
  Silent job;
  job.find(Trouble::slow_link, {"node-1"}).since = job::test::after(50'000);
  const Report report = job.report(true, 61'000);
  CHECK(report.verdict.state == State::slow);
  CHECK(report.verdict.since == job::test::after(50'000));
  REQUIRE_FALSE(report.nodes.empty());
  CHECK(report.nodes[0].node == "node-1");
  job.network.findings.front().open = false;
  const Report over = job.report(true, 61'000);
  CHECK(over.verdict.state == State::healthy);
  CHECK(note(over, "network_slow") != nullptr);
}

TEST_CASE("network: an agent is gone, but not its node, while the node's cards send") {
  Silent job;
  job.network.last = job.network.step = job.network.servers[3].last = job::test::after(62'000);
  job.network.now = job::test::after(62'500);
  Options options;
  options.as_of = job::test::after(62'500);
  options.network = &job.network;
  options.live.emplace();
  options.live->progress = job::test::after(60'000);
  options.live->deadline = Millis{60'000};
  options.live->lost.push_back({"node-3", job::test::after(50'000), false, false});
  const Report report = diagnose(job.made.state(), {}, options).report;
  CHECK(report.verdict.state == State::healthy);
  REQUIRE(note(report, "network_agent") != nullptr);
  CHECK(note(report, "network_agent")->node == "node-3");
}

TEST_CASE("network: one that shows nothing changes no byte of a report") {
  Silent job;
  for (const std::int64_t ms : {61'000, 660'000})
    CHECK(serve::to_json(job.report(true, ms)) == serve::to_json(job.report(false, ms)));
}

}  // namespace l4::diagnose
