#include "aggregator/receive/liveness.h"

#include <doctest/doctest.h>

#include <set>

namespace l4::receive {
namespace {

using Kind = Liveness::Change::Kind;

/// Agents that send a heartbeat every three seconds, each at its own moment, unless they are
/// silent.
struct Fleet {
  explicit Fleet(int size, LivenessOptions options = {}) : agents(size), liveness(options, now) {}

  static std::string name(int i) { return "node-" + std::to_string(i); }
  void run(Millis span) {
    for (Millis gone{0}; gone < span; gone += Millis{100}) {
      now += Millis{100};
      for (int i = 0; i < agents; ++i)
        if (!silent.contains(i) && (now.count() / 100 + i * 7) % 30 == 0)
          liveness.heard(name(i), now);
      for (auto& change : liveness.step(now)) changes.push_back(change);
    }
  }
  std::size_t count(Kind kind) const {
    std::size_t found = 0;
    for (const auto& change : changes) found += change.kind == kind;
    return found;
  }

  int agents;
  Millis now{1'000'000};
  Liveness liveness;
  std::set<int> silent;
  std::vector<Liveness::Change> changes;
};

TEST_CASE("liveness: a silent node is lost within 15 s and comes back") {
  Fleet fleet(100);
  fleet.run(Millis{70'000});
  CHECK(fleet.changes.empty());
  fleet.silent = {17};
  fleet.run(Millis{8'000});
  CHECK(fleet.changes.empty());
  fleet.run(Millis{7'000});
  REQUIRE(fleet.changes.size() == 1);
  CHECK(fleet.changes[0].kind == Kind::lost);
  CHECK(fleet.changes[0].agent == "node-17");
  CHECK(fleet.liveness.is_lost("node-17"));
  CHECK(fleet.liveness.living() == 99);
  fleet.run(Millis{100'000});
  CHECK(fleet.changes.size() == 1);
  fleet.silent = {};
  fleet.run(Millis{4'000});
  REQUIRE(fleet.changes.size() == 2);
  CHECK(fleet.changes[1].kind == Kind::back);
}

TEST_CASE("liveness: when most fall silent at once it is us, and nobody is lost") {
  Fleet fleet(100);
  fleet.run(Millis{70'000});
  for (int i = 0; i < 60; ++i) fleet.silent.insert(i);
  fleet.run(Millis{60'000});
  REQUIRE(fleet.changes.size() == 1);
  CHECK(fleet.changes[0].kind == Kind::blind);
  CHECK(fleet.changes[0].overdue > 50);
  CHECK(fleet.liveness.is_blind());
  // Most agents reconnect within their back-off; three stay away and are lost after the grace.
  fleet.silent = {1, 2, 3};
  fleet.run(Millis{30'000});
  CHECK(fleet.count(Kind::sighted) == 1);
  CHECK(fleet.count(Kind::lost) == 0);
  fleet.run(Millis{60'000});
  CHECK(fleet.count(Kind::lost) == 3);
}

TEST_CASE("liveness: just under half at once are lost") {
  Fleet fleet(100);
  fleet.run(Millis{70'000});
  for (int i = 0; i < 49; ++i) fleet.silent.insert(i);
  fleet.run(Millis{16'000});
  CHECK(fleet.count(Kind::lost) == 49);
  CHECK(fleet.count(Kind::blind) == 0);
}

TEST_CASE("liveness: of one or two agents nobody can tell, so they are lost") {
  Fleet fleet(2);
  fleet.run(Millis{70'000});
  fleet.silent = {0, 1};
  fleet.run(Millis{16'000});
  CHECK(fleet.count(Kind::lost) == 2);
}

TEST_CASE("liveness: after a start nobody is lost for a minute, then those who did not come") {
  Fleet fleet(100);
  for (int i = 0; i < 110; ++i) fleet.liveness.expect(Fleet::name(i));
  for (int i = 0; i < 100; ++i) fleet.silent.insert(i);
  fleet.run(Millis{40'000});
  fleet.silent = {};
  fleet.run(Millis{19'000});
  CHECK(fleet.changes.empty());
  fleet.run(Millis{5'000});
  CHECK(fleet.count(Kind::lost) == 10);
  CHECK(fleet.count(Kind::blind) == 0);
}

TEST_CASE("liveness: who has come and falls silent is lost, however short the start is past") {
  Fleet fleet(100);
  for (int i = 0; i < 110; ++i) fleet.liveness.expect(Fleet::name(i));
  for (int i = 90; i < 100; ++i) fleet.silent.insert(i);
  fleet.run(Millis{8'000});
  fleet.silent.insert(3);  // agent 3 was connected for too short a time
  fleet.run(Millis{12'000});
  fleet.silent.insert(17);
  fleet.run(Millis{15'000});
  REQUIRE(fleet.changes.size() == 1);
  CHECK(fleet.changes[0].kind == Kind::lost);
  CHECK(fleet.changes[0].agent == "node-17");
}

TEST_CASE("liveness: in the first minute, too, most who fall silent at once are not lost") {
  Fleet fleet(100);
  fleet.run(Millis{20'000});
  for (int i = 0; i < 60; ++i) fleet.silent.insert(i);
  fleet.run(Millis{60'000});
  CHECK(fleet.count(Kind::lost) == 0);
  CHECK(fleet.count(Kind::blind) == 1);
}

TEST_CASE("liveness: who was heard before we were blind and not since may be on its way") {
  Fleet fleet(100);
  fleet.run(Millis{70'000});
  for (int i = 0; i < 60; ++i) fleet.silent.insert(i);
  fleet.run(Millis{30'000});
  fleet.silent = {5, 6};
  fleet.run(Millis{15'000});
  CHECK(fleet.count(Kind::sighted) == 1);
  fleet.silent.insert(80);  // agent 80 was never away
  fleet.run(Millis{14'000});
  CHECK(fleet.count(Kind::lost) == 1);
  CHECK(fleet.liveness.is_lost("node-80"));
}

TEST_CASE("liveness: who was only expected while nobody looked was not heard") {
  Fleet fleet(100);
  for (int i = 100; i < 103; ++i) fleet.liveness.expect(Fleet::name(i));
  fleet.run(Millis{1'000});
  fleet.now += Millis{12'000};
  fleet.run(Millis{20'000});
  CHECK(fleet.changes.empty());
}

TEST_CASE("liveness: where most have not come yet, two who fall silent may be all there are") {
  Fleet fleet(2);
  for (int i = 2; i < 8; ++i) fleet.liveness.expect(Fleet::name(i));
  fleet.run(Millis{20'000});
  fleet.silent = {0, 1};
  fleet.run(Millis{30'000});
  CHECK(fleet.changes.empty());
}

TEST_CASE("liveness: time in which nobody looked is not their silence") {
  Fleet fleet(100);
  fleet.run(Millis{70'000});
  fleet.now += Millis{300'000};  // the machine slept
  fleet.run(Millis{60'000});
  CHECK(fleet.changes.empty());
}

TEST_CASE("liveness: who said goodbye is not lost") {
  Fleet fleet(100);
  fleet.run(Millis{70'000});
  fleet.silent = {5};
  fleet.liveness.left("node-5");
  fleet.run(Millis{60'000});
  CHECK(fleet.changes.empty());
}

TEST_CASE("liveness: where nobody is heard the blindness does not end, and nobody is lost") {
  Fleet fleet(100);
  fleet.run(Millis{70'000});
  for (int i = 0; i < 100; ++i) fleet.silent.insert(i);
  fleet.run(Millis{3'600'000});
  CHECK(fleet.count(Kind::blind) == 1);
  CHECK(fleet.count(Kind::away) == 100);
  CHECK(fleet.changes.size() == 101);
  CHECK(fleet.liveness.is_blind());
  CHECK(fleet.liveness.living() == 100);
  // Less than half of the agents is not enough; half is.
  for (int i = 0; i < 49; ++i) fleet.silent.erase(i);
  fleet.run(Millis{900'000});
  CHECK(fleet.count(Kind::back) == 49);
  CHECK(fleet.liveness.is_blind());
  fleet.silent.erase(49);
  fleet.run(Millis{10'000});
  REQUIRE(fleet.count(Kind::sighted) == 1);
  CHECK(fleet.changes.back().overdue == 50);
  CHECK(fleet.changes.back().living == 100);
  fleet.silent.clear();
  fleet.run(Millis{120'000});
  CHECK(fleet.count(Kind::back) == 100);
  CHECK(fleet.count(Kind::lost) == 0);
  CHECK(fleet.count(Kind::blind) == 1);
}

TEST_CASE("liveness: who stays away as the blindness ends is away, then lost") {
  Fleet fleet(100);
  fleet.run(Millis{70'000});
  for (int i = 0; i < 60; ++i) fleet.silent.insert(i);
  fleet.run(Millis{30'000});
  CHECK(fleet.count(Kind::away) == 0);
  fleet.silent = {1, 2, 3};
  fleet.run(Millis{30'000});
  CHECK(fleet.count(Kind::sighted) == 1);
  const std::size_t away = fleet.count(Kind::away);
  CHECK(away >= 3);
  CHECK(away == fleet.count(Kind::back) + 3);
  fleet.run(Millis{60'000});
  CHECK(fleet.count(Kind::lost) == 3);
}

TEST_CASE("liveness: of three agents, too, blindness does not end with a goodbye") {
  Fleet fleet(3);
  fleet.run(Millis{70'000});
  fleet.silent = {0, 1};
  fleet.run(Millis{30'000});
  fleet.silent = {0, 1, 2};
  fleet.liveness.left("node-2");
  fleet.run(Millis{700'000});
  CHECK(fleet.count(Kind::blind) == 1);
  CHECK(fleet.count(Kind::sighted) == 0);
}

TEST_CASE("liveness: most who stay away for a day are lost, and the others seen again") {
  LivenessOptions options;
  options.blind_most = Millis{1'200'000};  // a day takes long
  Fleet fleet(100, options);
  fleet.run(Millis{70'000});
  for (int i = 0; i < 60; ++i) fleet.silent.insert(i);
  fleet.run(Millis{1'190'000});
  CHECK(fleet.liveness.is_blind());
  CHECK(fleet.count(Kind::lost) == 0);
  fleet.run(Millis{30'000});
  CHECK(fleet.count(Kind::blind) == 1);
  CHECK(fleet.count(Kind::sighted) == 1);
  CHECK(fleet.count(Kind::lost) == 60);
  CHECK(fleet.liveness.living() == 40);
  fleet.silent.insert(99);
  fleet.run(Millis{80'000});
  CHECK(fleet.count(Kind::lost) == 61);
}

TEST_CASE("liveness: names that nobody has heard since the start keep it blind for a while only") {
  Fleet fleet(40);
  for (int i = 0; i < 100; ++i) fleet.liveness.expect(Fleet::name(i));
  fleet.run(Millis{600'000});
  CHECK(fleet.liveness.is_blind());
  CHECK(fleet.count(Kind::lost) == 0);
  fleet.run(Millis{80'000});
  CHECK_FALSE(fleet.liveness.is_blind());
  CHECK(fleet.count(Kind::lost) == 60);
  CHECK(fleet.liveness.living() == 40);
}

TEST_CASE("liveness: a start into a cut stays blind until somebody is heard") {
  Fleet fleet(100);
  for (int i = 0; i < 100; ++i) {
    fleet.liveness.expect(Fleet::name(i));
    fleet.silent.insert(i);
  }
  fleet.run(Millis{3'600'000});
  CHECK(fleet.count(Kind::blind) == 1);
  CHECK(fleet.count(Kind::sighted) == 0);
  CHECK(fleet.count(Kind::lost) == 0);
}

}  // namespace
}  // namespace l4::receive
