// Questions for raw lines as the aggregator asks them, against agents that answer as they please.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/wire/codec/lines_codec.h"
#include "tests/aggregator/live/live_world.h"
#include "tests/temp_folder.h"

namespace l4::test {
namespace {

using Kind = wire::LinesGapKind;
using Given = std::optional<std::expected<fetch::LinesResult, fetch::LinesProblem>>;

constexpr auto kJob = "train";

/// A job on two nodes with two ranks each.
struct Asking {
  TempFolder folder;
  LiveWorld world{folder.path()};

  Asking() {
    world.options.lines.timeout = Millis{3'000};
    world.options.lines.questions_max = 2;
    world.patient = true;  // a few steps must be enough even on a busy machine
    world.start();
    const TimeMs at = world.now().wall;
    for (std::size_t node = 0; node < 2; ++node) {
      PlayedNode& played = world.add("node-" + std::to_string(node), {});
      for (std::size_t second = 0; second < 2; ++second)
        played.add(healthy_second(kJob, node, 2, second, at));
    }
    REQUIRE(world.settle());
    for (int i = 0; i < 20; ++i) world.step();
  }

  std::shared_ptr<Given> ask(const fetch::LinesQuery& query) const {
    auto given = std::make_shared<Given>();
    REQUIRE(world.aggregator->lines(query, [given](auto result) { *given = std::move(result); }));
    return given;
  }
  void step(int times = 10) {
    for (int i = 0; i < times; ++i) world.step();
  }
  static fetch::LinesQuery query(std::optional<std::int32_t> rank) {
    fetch::LinesQuery made;
    made.job = kJob;
    made.who = "reader\n\x1b[2J";
    if (rank) made.rank = Rank{*rank};
    return made;
  }
  static wire::LinesAnswer answer(const std::string& text, std::uint32_t asked = 0) {
    wire::LinesAnswer made;
    made.files = {"/logs/a"};
    made.lines.push_back({0, asked, 7, 1, {}, {}, {}, text, true, false});
    return made;
  }
  void say(std::size_t node, const wire::LinesAnswer& what, bool last = true) {
    PlayedNode& played = *world.nodes[node];
    REQUIRE(!played.questions.empty());
    CHECK(played.answer({played.questions.back().number, std::string(wire::kLinesTopic),
                         wire::encode(what), last}));
  }
  wire::LinesQuestion asked_of(std::size_t node) const {
    REQUIRE(!world.nodes[node]->questions.empty());
    const auto question = wire::decode_lines_question(world.nodes[node]->questions.back().body);
    REQUIRE(question);
    return *question;
  }
};

std::vector<Kind> kinds(const Given& given) {
  REQUIRE(given);
  REQUIRE(*given);
  std::vector<Kind> all;
  for (const fetch::LinesMissing& row : (*given)->missing) all.push_back(row.kind);
  return all;
}

TEST_CASE("lines: whoever has the rank or the template is asked, by the names it uses") {
  Asking asking;
  const auto of_rank = asking.ask(Asking::query(3));
  asking.step();
  CHECK(asking.world.nodes[0]->questions.empty());
  const wire::LinesQuestion one = asking.asked_of(1);
  REQUIRE(one.files.size() == 1);
  CHECK(one.files[0].path == "node-1/rank3.log");
  CHECK(one.files[0].everyone);
  CHECK(one.lines_max == 200);
  CHECK(!one.asks_template());
  asking.say(1, Asking::answer("half"), false);
  asking.step();
  CHECK(!*of_rank);
  asking.say(1, Asking::answer("whole"));
  asking.step();
  REQUIRE(*of_rank);
  CHECK((**of_rank)->lines.size() == 2);
  CHECK((**of_rank)->lines[0].node == "node-1");
  CHECK((**of_rank)->lines[0].rank == Rank{3});
  CHECK(kinds(*of_rank).empty());

  fetch::LinesQuery query = Asking::query({});
  query.template_id = TemplateId{3};
  const auto of_template = asking.ask(query);
  asking.step();
  const wire::LinesQuestion two = asking.asked_of(0);
  // Twelve local templates with alike texts are one template of the job.
  CHECK(two.templates.size() == 12);
  REQUIRE(two.texts.size() == 1);
  CHECK(two.texts[0].starts_with("iteration part "));
  CHECK(two.files.size() == 2);
  CHECK(two.files[0].counted == 12 * 2 * 2);
  CHECK(two.files[0].last.has_value());
  CHECK(two.lines_max == 100);  // shared by the agents
}

TEST_CASE("lines: what does not exist is not asked for") {
  Asking asking;
  fetch::LinesQuery query = Asking::query(99);
  auto given = asking.ask(query);
  asking.step(2);
  REQUIRE(*given);
  CHECK((*given)->error().kind == fetch::LinesProblem::Kind::nothing);
  query.job = "other";
  given = asking.ask(query);
  asking.step(2);
  REQUIRE(*given);
  CHECK((*given)->error().kind == fetch::LinesProblem::Kind::no_job);
  CHECK(asking.world.nodes[0]->questions.empty());
  CHECK(asking.world.heard.count("raw lines: reader") == 2);
  CHECK(asking.world.heard.count("\x1b") == 0);
}

TEST_CASE("lines: who is silent, old, gone or away is named") {
  Asking asking;
  fetch::LinesQuery query = Asking::query({});
  query.template_id = TemplateId{1};
  auto given = asking.ask(query);
  asking.step();
  asking.say(0, Asking::answer("x"));
  asking.step(100);
  CHECK(kinds(*given) == std::vector{Kind::no_answer});
  CHECK((**given)->lines.size() == 1);
  CHECK((**given)->agents_answered == 1);
  asking.say(1, Asking::answer("too late"));
  asking.step();

  given = asking.ask(query);
  asking.step();
  asking.say(0, Asking::answer("x"));
  PlayedNode& second = *asking.world.nodes[1];
  CHECK(second.answer({second.questions.back().number, "unsupported", {}, true}));
  asking.step();
  CHECK(kinds(*given) == std::vector{Kind::too_old});

  given = asking.ask(query);
  asking.step();
  asking.say(0, Asking::answer("x"));
  second.say_bye();
  asking.step();
  CHECK(kinds(*given) == std::vector{Kind::left});
  given = asking.ask(query);
  asking.step();
  asking.say(0, Asking::answer("x"));
  asking.step();
  CHECK(kinds(*given) == std::vector{Kind::not_connected});
}

TEST_CASE("lines: nothing that an agent answers breaks the aggregator") {
  Asking asking;
  PlayedNode& node = *asking.world.nodes[1];
  const auto of = [&] {
    auto given = asking.ask(Asking::query(3));
    asking.step();
    return given;
  };
  auto given = of();
  CHECK(
      node.answer({node.questions.back().number, "lines", wire::Bytes(24, std::byte{0x5a}), true}));
  asking.step();
  CHECK(kinds(*given) == std::vector{Kind::other});

  given = of();
  CHECK(node.answer({4711, "lines", wire::encode(Asking::answer("never asked")), true}));
  PlayedNode& other = *asking.world.nodes[0];
  CHECK(other.answer(
      {node.questions.back().number, "lines", wire::encode(Asking::answer("of another")), true}));
  asking.step();
  CHECK(!*given);
  asking.say(1, Asking::answer("a log that was not asked for", 5));
  asking.step();
  REQUIRE(*given);
  CHECK((**given)->lines.empty());

  given = of();
  wire::LinesAnswer much = Asking::answer("x");
  much.lines.resize(3'000, much.lines[0]);
  asking.say(1, much);
  asking.step();
  CHECK(kinds(*given) == std::vector{Kind::limit_bytes});
  CHECK((**given)->lines.size() == 200 * 11);
}

TEST_CASE("lines: only so many questions at once") {
  Asking asking;
  const auto first = asking.ask(Asking::query(0)), second = asking.ask(Asking::query(1)),
             third = asking.ask(Asking::query(2));
  asking.step();
  REQUIRE(*third);
  CHECK((*third)->error().kind == fetch::LinesProblem::Kind::busy);
  CHECK(!*first);
  asking.step(100);
  CHECK(kinds(*first) == std::vector{Kind::no_answer});
  CHECK(kinds(*second) == std::vector{Kind::no_answer});
}

}  // namespace
}  // namespace l4::test
