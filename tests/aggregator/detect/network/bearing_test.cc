#include "aggregator/detect/network/bearing.h"

#include <doctest/doctest.h>

#include "aggregator/detect/network/servers.h"
#include "aggregator/job/clock.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect::network {
namespace {

using job::test::after;
using job::test::MadeJob;

/// Four nodes that stop after iteration 30; steps of a second, seen until 30 s.
struct Seen {
  Seen() {
    made.iterate_all(1, 30);
    for (int i = 0; i < 4; ++i)
      network.servers.push_back({"node-" + std::to_string(i), {"10.0.0." + std::to_string(i)}, {}});
    network.last = network.step = after(30'000);
    network.period = Millis{1'000};
    network.deadline = Millis{3'000};
  }
  Finding& find(Trouble trouble, std::vector<std::string> servers) {
    Finding finding;
    finding.trouble = trouble;
    finding.since = after(30'000);
    finding.open = finding.in_step = true;
    finding.places = finding.servers = std::move(servers);
    finding.steps = 4;
    return network.findings.emplace_back(std::move(finding));
  }
  Bearing at(std::int64_t ms) {
    network.now = after(ms);
    view = made.view();
    clock = job::make_clock(view);
    silence = hang::find_silence(view, clock, after(ms));
    return bear(view, clock, silence, network, {after(ms), unfinished});
  }
  MadeJob made{4};
  Network network;
  bool unfinished = false;
  job::JobView view;
  job::JobClock clock;
  hang::Silence silence;
};

}  // namespace

TEST_CASE("network: steps behind the logs' last progress go on, until the network is silent, too") {
  Seen seen;
  CHECK_FALSE(seen.at(200'000).goes_on);
  seen.network.last = seen.network.step = after(199'000);
  CHECK(seen.at(200'000).goes_on);
  CHECK_FALSE(seen.at(210'000).goes_on);
  seen.network.period = Millis{0};
  CHECK(seen.at(200'000).goes_on);
}

TEST_CASE("network: what is written to storage extends the deadline while it moves") {
  Seen seen;
  seen.network.stored = after(100'000);
  CHECK(seen.at(110'000).stores);
  CHECK_FALSE(seen.at(140'000).stores);
  seen.network.stored = after(20'000);
  CHECK_FALSE(seen.at(31'000).stores);
}

TEST_CASE("network: a stop is none where the logs go on behind it") {
  Seen seen;
  seen.find(Trouble::hang, {"node-2"});
  CHECK(seen.at(60'000).waits);
  seen.network.findings.front().since = after(20'000);
  CHECK_FALSE(seen.at(60'000).waits);
}

TEST_CASE("network: a silence that began between two steps may be an end") {
  Seen seen;
  seen.find(Trouble::stopped, {}).in_step = false;
  CHECK(seen.at(60'000).stop == nullptr);
  seen.unfinished = true;  // the logs say that more was to come
  CHECK(seen.at(60'000).waits);
  seen.network.findings.front().open = false;
  CHECK(seen.at(60'000).stop == nullptr);
  seen.unfinished = false;
  seen.network.findings.front().open = seen.network.findings.front().in_step = true;
  CHECK(seen.at(60'000).waits);
}

TEST_CASE("network: who stopped first leads where logs print little, else both orders count") {
  Seen seen;
  seen.find(Trouble::hang, {"node-2", "node-1"});
  const Bearing sparse = seen.at(60'000);
  REQUIRE(sparse.accused.size() == 2);
  CHECK(sparse.accused[0].node == 2);
  CHECK(sparse.accused[0].strength == doctest::Approx(1));
  CHECK(sparse.accused[1].node == 1);

  // Five lines more an iteration, and node-1 is silent seconds before the others.
  for (int rank = 0; rank < 4; ++rank)
    for (int k = 0; k < 200; ++k) seen.made.say(rank, {"line"}, 20'000 + k);
  for (const int rank : {0, 2, 3}) seen.made.say(rank, {"last"}, 36'000);
  const Bearing chatty = seen.at(60'000);
  REQUIRE(chatty.accused.size() == 2);
  CHECK(chatty.accused[0].strength < 1);
  CHECK(chatty.accused[0].strength == doctest::Approx(chatty.accused[1].strength));
}

TEST_CASE("network: each place of a slow link is accused alike, single steps accuse nobody") {
  Seen seen;
  seen.find(Trouble::slow_link, {"node-0", "node-3"});
  const Bearing slow = seen.at(31'000);
  CHECK(slow.slow != nullptr);
  REQUIRE(slow.accused.size() == 2);
  CHECK(slow.accused[0].strength == doctest::Approx(0.5));
  seen.network.findings.front().steps = 1;
  const Bearing passed = seen.at(31'000);
  CHECK(passed.slow == nullptr);
  CHECK(passed.accused.empty());
  CHECK(passed.passed.size() == 1);
}

TEST_CASE("network: a node whose cards send behind its agent's last word is not lost") {
  Seen seen;
  seen.network.now = after(100'000);
  seen.network.servers[1].last = after(99'000);
  CHECK(still_sends(seen.network, "node-1", after(50'000)));
  CHECK_FALSE(still_sends(seen.network, "node-1", after(98'000)));
  CHECK_FALSE(still_sends(seen.network, "node-0", after(50'000)));
  seen.network.servers[1].last = after(60'000);
  CHECK_FALSE(still_sends(seen.network, "node-1", after(50'000)));
}

TEST_CASE("network: where a finding is, in words, is named by a few places") {
  Finding finding;
  CHECK(where(finding).empty());
  finding.places = {"a"};
  CHECK(where(finding) == " at a");
  finding.places = {"a", "b", "c", "d"};
  CHECK(where(finding) == " at a or b or c or d");
  finding.places.insert(finding.places.end(), {"e", "f"});
  CHECK(where(finding) == " at a or b or c or d or 2 others");
}

TEST_CASE("network: servers are nodes by name, by the host of a name, or by an address") {
  Seen seen;
  CHECK(share_of_servers(seen.network, LogNodes({"node-0", "node-1.cluster", "10.0.0.2"})) ==
        doctest::Approx(0.75));
  CHECK(share_of_servers(seen.network, LogNodes({"10.0.0.9", "node"})) == 0);
  CHECK(share_of_servers(Network{}, LogNodes(std::set<std::string>{"node-0"})) == 0);
}

}  // namespace l4::detect::network
