// Whom the lines of a job blame, found again among its nodes and ranks.
#include "aggregator/detect/evidence/accused.h"

#include <doctest/doctest.h>

#include <string>

#include "common/parameters/parameters.h"
#include "tests/aggregator/job/made_job.h"

namespace l4::detect {
namespace {

using job::test::MadeJob;
using job::test::Say;

/// A line with the parameters that an agent would ship.
void with_parameters(wire::Segment& segment, const std::string& text) {
  wire::ParameterTuple tuple{segment.events[0].id, 1, {}};
  parameters::extract(text, tuple.values);
  segment.parameters.push_back(std::move(tuple));
}

void say(MadeJob& job, int rank, const std::string& masked, const std::string& text) {
  with_parameters(job.say(rank, {masked, Level::error}, 1000), text);
}

struct Named {
  std::vector<std::string> nodes;
  std::vector<int> ranks;
  std::vector<Outsider> outsiders;
  bool by_peers = false;
};

Named named_in(MadeJob& job, const std::string& masked) {
  const job::JobView view = job.view();
  Accusers accusers(view);
  const std::uint32_t event = job::test::event_of(view, masked);
  REQUIRE(event < view.events.size());
  const Accused accused = accusers.of(view.events[event]);
  Named named;
  named.by_peers = accused.by_peers;
  for (const std::uint32_t node : accused.nodes) named.nodes.push_back(view.nodes[node].name);
  for (const std::uint32_t rank : accused.ranks)
    named.ranks.push_back(view.ranks[rank].rank->value());
  for (const std::uint32_t one : accused.outsiders)
    named.outsiders.push_back(accusers.outsiders()[one]);
  return named;
}

TEST_CASE("accused: ranks and nodes of the job, by number, name and long name") {
  MadeJob job(8, 2);
  say(job, 0, "no response from rank <*>", "no response from rank 5");
  say(job, 0, "Node failure on <*>", "Node failure on node-3.cluster.local");
  say(job, 0, "peer of rank <*> on <*> is lost", "rank 6 on node-3 is lost");
  CHECK(named_in(job, "no response").ranks == std::vector<int>{5});
  CHECK(named_in(job, "no response").by_peers);
  CHECK(named_in(job, "Node failure").nodes == std::vector<std::string>{"node-3"});
  const Named both = named_in(job, "peer of rank");  // the rank is the more exact one
  CHECK(both.ranks == std::vector<int>{6});
  CHECK(both.nodes.empty());
}

TEST_CASE("accused: a rank that wrote no line, beside its node: it is at home there") {
  MadeJob job(4, 2);
  say(job, 0, "table <*>", "rank 9 on node-1 died");
  say(job, 1, "again <*>", "rank 9 died");
  say(job, 1, "local <*>", "local_rank: 3 died");
  const Named beside = named_in(job, "table");
  CHECK(beside.nodes == std::vector<std::string>{"node-1"});
  CHECK(beside.outsiders == std::vector<Outsider>{{"", Rank{9}, 1}});
  CHECK(named_in(job, "again").outsiders == std::vector<Outsider>{{"", Rank{9}}});
  CHECK(named_in(job, "local").outsiders.empty());  // of several nodes: no number in the job
  MadeJob one(1, 2);
  say(one, 0, "local <*>", "local_rank: 3 died");
  say(one, 0, "other <*>", "local_rank: 1 died");
  CHECK(named_in(one, "local").outsiders == std::vector<Outsider>{{"", Rank{3}, 0}});
  CHECK(named_in(one, "other").ranks == std::vector<int>{1});
}

TEST_CASE("accused: who wrote no line is an outsider, unless the name may be another name") {
  MadeJob job(4, 2);
  say(job, 0, "task <*>: Killed", "task 9: Killed");
  say(job, 0, "lost <*>", "lost node-7");
  say(job, 0, "closed by peer <*>", "Connection closed by peer 10.0.0.12:41234");
  say(job, 0, "pod <*> was evicted", "pod x9-abc was evicted");
  say(job, 0, "worker <*> died", "worker 400 died");
  CHECK(named_in(job, "Killed").outsiders == std::vector<Outsider>{{"", Rank{9}}});
  CHECK(named_in(job, "lost").outsiders == std::vector<Outsider>{{"node-7", std::nullopt}});
  CHECK(named_in(job, "closed by").outsiders.empty());
  CHECK(named_in(job, "evicted").outsiders.empty());
  CHECK(named_in(job, "died").outsiders.empty());
  MadeJob one(1, 1);  // an operator's or a driver's log
  say(one, 0, "pod <*> was evicted", "pod x9-abc was evicted");
  CHECK(named_in(one, "evicted").outsiders == std::vector<Outsider>{{"x9-abc", std::nullopt}});
}

TEST_CASE("accused: addresses are found by what every node says of itself") {
  MadeJob job(4, 1);
  for (int rank = 0; rank < 4; ++rank) {
    const std::string text =
        "NCCL INFO Bootstrap : Using eth0:10.0.0.1" + std::to_string(rank) + "<0>";
    with_parameters(job.say(rank, {"NCCL INFO Bootstrap : Using <*>"}, 500), text);
  }
  say(job, 0, "closed by peer <*>", "Connection closed by peer 10.0.0.12:41234");
  CHECK(named_in(job, "closed by").nodes == std::vector<std::string>{"node-2"});
}

TEST_CASE("accused: oneself, a ring of neighbours and a list of most are nobody") {
  MadeJob job(8, 1);
  say(job, 3, "rank <*> failed to join", "rank 3 failed to join");
  for (int rank = 0; rank < 8; ++rank)
    say(job, rank, "Timeout with peer <*>", "Timeout with peer " + std::to_string((rank + 1) % 8));
  say(job, 0, "missing ranks: <*>", "missing ranks: 1, 2, 3, 4, 5");
  CHECK(named_in(job, "failed to join").ranks.empty());
  CHECK(named_in(job, "Timeout with").ranks.empty());
  CHECK(named_in(job, "missing ranks").ranks.empty());
}

TEST_CASE("kind: a host in brackets before the message speaks, and is not accused") {
  for (const char* text :
       {"[node-3 - fabric.c:611] no manager answered", "[node-3:2288:0] setup of the tree failed",
        "[node-3] plugin not loaded"}) {
    CAPTURE(text);
    MadeJob job(8, 2);
    std::string masked = text;
    masked.replace(masked.find("-3") + 1, 1, "<*>");
    say(job, 0, masked, text);
    CHECK(named_in(job, masked).nodes.empty());
  }
  MadeJob job(8, 2);
  say(job, 0, "[node-<*> node-<*> are behind", "[node-2, node-3] are behind");
  CHECK(named_in(job, "[node-<*> node").nodes.size() == 2);
  say(job, 0, "setup on node-<*> failed", "setup on node-3 failed");
  CHECK(named_in(job, "setup on node-<*> failed").nodes == std::vector<std::string>{"node-3"});
}

TEST_CASE("accused: a launcher's local rank is one of its own node") {
  MadeJob job(2, 2);
  for (int rank = 0; rank < 4; ++rank) {
    job.source_of(rank).local_rank = rank % 2;
    job.say(rank, {"step"}, 500);
  }
  const SourceId id = job.add_source(1).id;
  with_parameters(job.say_on(1, id, {"failed (exitcode: <*>) local_rank: <*>", Level::error}, 900),
                  "failed (exitcode: -9) local_rank: 1 (pid: 4711)");
  const Named named = named_in(job, "exitcode");
  CHECK(named.ranks == std::vector<int>{3});
  CHECK_FALSE(named.by_peers);
}

TEST_CASE("accused: kind 'pods of one job': a pod that left no log is one of its family") {
  for (const std::string other : {"node-worker-2", "node-launcher-x7k9", "node-pool-b-3"}) {
    CAPTURE(other);
    MadeJob job(2, 1);
    say(job, 0, "pod <*> failed", "pod " + other + " failed");
    const Named named = named_in(job, "pod <*> failed");
    REQUIRE(named.outsiders.size() == 1);
    CHECK(named.outsiders[0].node == other);
  }
  MadeJob job(2, 1);
  say(job, 0, "pod <*> failed", "pod bert-worker-2 failed");
  CHECK(named_in(job, "pod <*> failed").outsiders.empty());
}

}  // namespace
}  // namespace l4::detect
