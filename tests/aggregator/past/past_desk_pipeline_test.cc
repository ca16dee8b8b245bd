// A report of the past equals the report made at that time: for a job that crashes, hangs or loses
// a node, through restarts, from saved states and from the job's first batch. Also the refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/aggregator/live/live_world.h"
#include "tests/temp_folder.h"

namespace l4::test {
namespace {

constexpr auto kPastJob = "job";
/// A period of checkpoints that is never reached: the first one comes at a random time within it.
constexpr Millis kNever{1'000'000'000'000};

/// The text from the first line that differs.
std::string difference(const std::string& found, const std::string& expected) {
  if (found == expected) return {};
  std::size_t at = 0;
  while (at < found.size() && at < expected.size() && found[at] == expected[at]) ++at;
  const std::size_t line = found.rfind('\n', at) + 1;
  return found.substr(line, 200) + " instead of " + expected.substr(line, 200);
}

class PastWorld : public LiveWorld {
 public:
  using LiveWorld::LiveWorld;

  struct Moment {
    TimeMs at;
    std::string state, report;
  };
  std::vector<Moment> moments;

  void begin(std::size_t count) {
    patient = true;
    start();
    for (std::size_t node = 0; node < count; ++node) {
      const wire::Batch first = healthy_second(kPastJob, node, 2, 0, now().wall);
      add(first.agent, {}).add(first);
    }
    speakers = count;
  }
  /// The first `speakers` nodes train on, the others are silent.
  void train(std::size_t seconds) {
    for (const std::size_t end = second + seconds; second < end; ++second) {
      for (std::size_t i = 0; i < speakers; ++i)
        nodes[i]->add(healthy_second(kPastJob, i, 2, second, now().wall));
      for (int i = 0; i < 20; ++i) step();
    }
  }
  void pass(std::size_t seconds) {
    for (std::size_t i = 0; i < seconds * 20; ++i) step();
  }
  /// Restarts, but not in the millisecond of the last report.
  void restart() {
    step();
    start();
  }
  /// Notes the report that a client would get now.
  const Moment& look(const std::string& job = kPastJob) {
    aggregator->on_shard(job, [&](scoring::Shard& shard) {
      const scoring::LiveJob* found = shard.refresh(job);
      REQUIRE(found != nullptr);
      moments.push_back({found->looked_at(), std::string(name(found->report()->verdict.state)),
                         found->report_json()});
    });
    aggregator->step_all(true);
    return moments.back();
  }
  past::PastAnswer past(TimeMs at, const std::string& job = kPastJob,
                        const std::stop_token& left = {}) {
    std::promise<past::PastAnswer> answer;
    CHECK(
        aggregator->past(job, at, left, [&](past::PastAnswer found) { answer.set_value(found); }));
    aggregator->step_all(true);
    return answer.get_future().get();
  }
  void check(const std::string& job = kPastJob) {
    for (const Moment& moment : moments) {
      INFO(to_rfc3339(moment.at), " ", moment.state);
      const auto found = past(moment.at, job);
      REQUIRE_MESSAGE(found, (found ? std::string() : found.error().message));
      CHECK(difference(*found, moment.report) == "");
    }
  }
  std::vector<std::string> states() const {
    std::vector<std::string> states;
    for (const Moment& moment : moments) states.push_back(moment.state);
    return states;
  }

  std::size_t second = 1, speakers = 0;
};

}  // namespace

TEST_CASE("past: a hang, from before it to long after, through a restart") {
  TempFolder folder;
  PastWorld world(folder.path());
  world.begin(3);
  world.train(5);
  world.look();
  world.train(95);
  world.look();
  world.pass(40);
  world.look();
  world.pass(400);
  world.look();
  CHECK(world.states().back() == "hung");
  world.check();
  world.restart();
  world.pass(2);
  world.look();
  world.pass(28);
  world.look();
  world.pass(600);
  world.look();
  world.check();
  world.restart();
  world.check();
}

TEST_CASE("past: a job that goes on while the aggregator is killed, twice") {
  TempFolder folder;
  PastWorld world(folder.path());
  world.begin(3);
  world.train(47);
  for (int kills = 0; kills < 2; ++kills) {
    world.look();
    world.restart();
    world.step();
    world.look();
    world.train(2);
    world.look();
    world.train(8);
    world.look();
    world.pass(70);
    world.look();
    world.train(33);
    world.look();
  }
  world.check();
  world.restart();
  world.check();
}

TEST_CASE("past: a job that crashes, batch by batch") {
  const auto nodes =
      recorded(std::filesystem::path(L4_SOURCE_DIR) / "samples/crash-rank4", kPastJob);
  TempFolder folder;
  PastWorld world(folder.path());
  world.patient = true;
  world.start();
  for (const auto& batches : nodes) world.add(batches.at(0).agent, batches);
  while (world.aggregator->find(kPastJob) == nullptr) world.step();
  for (int i = 0; i < 8; ++i) {
    world.look();
    for (int more = 0; more < 12; ++more) world.step();
  }
  REQUIRE(world.settle());
  world.pass(60);
  world.look();
  CHECK(world.states().back() == "crashed");
  world.check();
  world.restart();
  world.check();
}

TEST_CASE("past: a node is lost, and comes back") {
  TempFolder folder;
  PastWorld world(folder.path());
  SUBCASE("from saved states") {
    world.options.shards.checkpoint_every = Millis{5'000};
  }
  SUBCASE("from its first batch") {
    world.options.shards.checkpoint_every = kNever;
  }
  world.begin(4);
  world.train(70);
  world.look();
  world.speakers = 3;
  world.nodes[3]->disconnect();
  world.train(8);
  world.look();
  world.train(20);
  world.look();
  world.pass(100);
  world.look();
  CHECK(world.heard.count(world.nodes[3]->name() + " is lost") == 1);
  CHECK(world.moments.back().report.find(world.nodes[3]->name()) != std::string::npos);
  world.nodes[3]->connect(world.network.client(world.nodes[3]->name(), "10.0.0.1"));
  world.train(3);
  world.look();
  world.train(20);
  world.look();
  world.check();
  world.restart();
  world.check();
}

TEST_CASE("past: a silent job whose node was lost, long after the journal forgot") {
  TempFolder folder;
  PastWorld world(folder.path());
  world.options.store.journal.segment_bytes = 20'000;
  world.options.store.journal.ring_bytes = 60'000;
  world.options.shards.checkpoint_every = Millis{5'000};
  world.begin(4);
  world.train(70);
  world.nodes[3]->disconnect();
  world.pass(30);
  world.look();
  CHECK(world.heard.count(world.nodes[3]->name() + " is lost") == 1);
  const TimeMs lost = world.now().wall;
  const wire::Batch other = healthy_second("other", 7, 2, 0, lost);
  PlayedNode& speaker = world.add(other.agent, {});
  speaker.add(other);
  for (std::size_t i = 1; i < 250; ++i) {
    speaker.add(healthy_second("other", 7, 2, i, world.now().wall));
    for (int steps = 0; steps < 20; ++steps) world.step();
  }
  CHECK_FALSE(world.past(lost, "other"));  // the job's records have left the ring
  world.moments.clear();
  world.look();
  world.check();
  world.restart();
  world.check();
}

TEST_CASE("past: while the aggregator saw nobody") {
  TempFolder folder;
  PastWorld world(folder.path());
  SUBCASE("from saved states") {
    world.options.shards.checkpoint_every = Millis{5'000};
  }
  SUBCASE("from its first batch") {
    world.options.shards.checkpoint_every = kNever;
  }
  world.begin(5);
  world.train(70);
  world.look();
  world.network.cut_server(true);
  world.pass(20);
  world.look();
  world.pass(400);
  world.look();
  CHECK(world.heard.count("alert blind") == 1);
  CHECK(world.states().back() == "healthy");
  world.network.cut_server(false);
  world.pass(20);
  world.look();
  world.train(30);
  world.look();
  world.check();
  world.restart();
  world.check();
}

TEST_CASE("past: what cannot be told is refused with what can") {
  TempFolder folder;
  PastWorld world(folder.path());
  world.options.store.journal.segment_bytes = 20'000;
  world.options.store.journal.ring_bytes = 200'000;
  world.options.shards.checkpoint_every = Millis{10'000};
  world.begin(2);
  world.train(3);
  const TimeMs opened = world.aggregator->find(kPastJob)->opened();
  const auto refusal = [&](TimeMs at, const std::string& job = kPastJob) {
    const auto found = world.past(at, job);
    REQUIRE_FALSE(found);
    return std::to_string(found.error().status) + " " + found.error().message;
  };
  CHECK(refusal(world.now().wall + Millis{1}).starts_with("400 "));
  CHECK(refusal(world.now().wall, "nobody") == "404 there is no job nobody");
  CHECK(refusal(opened - Millis{1}).find("began at " + to_rfc3339(opened)) != std::string::npos);
  CHECK(world.past(opened));
  std::stop_source client;
  CHECK(world.past(opened, kPastJob, client.get_token()));
  client.request_stop();
  const auto given_up = world.past(opened, kPastJob, client.get_token());
  REQUIRE_FALSE(given_up);
  CHECK(given_up.error().code == "given_up");
  world.train(300);
  world.look();
  const std::string gone = refusal(opened);
  const auto from = gone.find("it can be shown from ");
  REQUIRE_MESSAGE(from != std::string::npos, gone);
  const auto first = parse_time(gone.substr(from + 21, 24));
  REQUIRE(first);
  CHECK(world.now().wall - *first > Millis{20'000});  // the ring still reaches back more than 20 s
  CHECK(world.past(*first));
  CHECK_FALSE(world.past(*first - Millis{1}));
  world.check();
}

TEST_CASE("past: what is damaged is said, and what stands on both sides of it is told") {
  TempFolder folder;
  PastWorld world(folder.path());
  world.options.store.journal.segment_bytes = 20'000;
  world.options.shards.checkpoint_every = Millis{20'000};
  world.options.store.checkpoints.past_every = Millis{60'000};
  world.begin(2);
  world.train(200);
  const TimeMs opened = world.aggregator->find(kPastJob)->opened(), end = world.now().wall;
  world.restart();
  world.kill();
  std::vector<std::filesystem::path> segments;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "journal"))
    segments.push_back(entry.path());
  std::ranges::sort(segments);
  REQUIRE(segments.size() > 6);
  std::filesystem::remove(segments[segments.size() / 2]);
  world.start();
  std::string kinds;  // kinds of the answers in order, each run of equal kinds once
  std::string refusal;
  for (TimeMs at = opened; at <= end; at += Millis{1'000}) {
    const auto found = world.past(at);
    const char kind = found ? '+' : found.error().code == "damaged" ? '-' : '?';
    if (kinds.empty() || kinds.back() != kind) kinds += kind;
    if (found || !refusal.empty()) continue;
    refusal = found.error().message;
    CHECK(found.error().status == 404);
    const auto whole_to = parse_time(refusal.substr(refusal.find("after ") + 6, 24));
    const auto again_from = parse_time(refusal.substr(refusal.find("and from ") + 9, 24));
    REQUIRE_MESSAGE(whole_to, refusal);
    REQUIRE_MESSAGE(again_from, refusal);
    CHECK(*whole_to <= at);
    CHECK(world.past(*whole_to - Millis{1}));
    CHECK(*again_from > at);
    CHECK(world.past(*again_from));
  }
  CHECK(kinds == "+-+");
}

TEST_CASE("past: neither a large job nor a long way holds it up, and one is asked at a time") {
  TempFolder folder;
  PastWorld world(folder.path());
  world.begin(2);
  world.train(40);
  world.look();
  const auto refusal = [&] {
    world.restart();
    const auto found = world.past(world.moments[0].at);
    REQUIRE_FALSE(found);
    return std::to_string(found.error().status) + " " + found.error().message;
  };
  world.options.past.job_bytes_max = 1'000;
  CHECK(refusal().find("503 the job takes ") == 0);
  world.options.past = {};
  world.options.past.timeout = Millis{-1};
  CHECK(refusal().find("past_timeout_s") != std::string::npos);
  world.options.past = {};
  world.restart();
  const TimeMs at = world.moments[0].at;
  bool was_busy = false;
  for (int tries = 0; tries < 1'000 && !was_busy; ++tries) {
    std::promise<past::PastAnswer> first, second;
    world.aggregator->past(kPastJob, at, {},
                           [&](past::PastAnswer found) { first.set_value(found); });
    world.aggregator->past(kPastJob, at, {},
                           [&](past::PastAnswer found) { second.set_value(found); });
    world.aggregator->step_all(true);
    CHECK(first.get_future().get());
    const auto other = second.get_future().get();
    if (other) continue;
    CHECK(other.error().status == 503);
    CHECK(other.error().code == "busy");
    was_busy = true;
  }
  CHECK(was_busy);
}

}  // namespace l4::test
