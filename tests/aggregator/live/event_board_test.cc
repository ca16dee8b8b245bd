#include "aggregator/live/event_board.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace l4::live {
namespace {

constexpr std::uint64_t kIncarnation = 0xab;
constexpr std::string_view kOwn = "00000000000000ab-";

std::string id(std::uint64_t number) {
  return fmt::format("{}{}", kOwn, number);
}

std::string taken(EventBoard& board, const std::string& job, const std::string& since) {
  const auto stream = board.open({.job = job}, since);
  return stream ? stream->take().text : "none";
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("event board: who follows gets what is published from then on, of its job") {
  EventBoard board(kIncarnation, {});
  board.publish("x", "a", "1");
  const auto all = board.open({}, ""), one = board.open({.job = "a"}, "");
  CHECK(has(all->take().text, "id: " + id(1) + "\nevent: following"));
  static_cast<void>(one->take());
  board.publish("x", "b", "2");
  board.publish("fleet", "", "3");
  CHECK(all->take().text ==
        "id: " + id(2) + "\nevent: x\ndata: 2\n\nid: " + id(3) + "\nevent: fleet\ndata: 3\n\n");
  CHECK(one->take().text.empty());
  CHECK(board.counts().published == 3);
  CHECK(board.counts().streams == 2);
}

TEST_CASE("event board: who may see some jobs gets events of these alone, also earlier ones") {
  EventBoard board(kIncarnation, {});
  const http::JobLimit jobs = http::JobLimit::parse("team-a-*").value();
  const auto stream = board.open({.jobs = jobs}, "");
  static_cast<void>(stream->take());
  for (const char* job : {"team-a-1", "team-b-1", ""})
    board.publish("x", job, "of " + std::string(job));
  const std::string came = stream->take().text;
  CHECK(has(came, "of team-a-1"));
  CHECK_FALSE(has(came, "id: " + id(2)));
  CHECK_FALSE(has(came, "id: " + id(3)));
  const std::string missed = board.open({.jobs = jobs}, std::string(kOwn) + "0")->take().text;
  CHECK(has(missed, "of team-a-1"));
  CHECK_FALSE(has(missed, "team-b-1"));
  CHECK_FALSE(has(missed, "event: lost"));
}

TEST_CASE("event board: who comes back is told what came since, and what is lost") {
  EventBoard board(kIncarnation, {.ring_max = 3});
  for (int i = 1; i <= 5; ++i) board.publish("x", i % 2 == 0 ? "even" : "odd", std::to_string(i));
  const std::string near = taken(board, "", id(3));
  CHECK_FALSE(has(near, "event: lost"));
  CHECK_FALSE(has(near, "data: 3"));
  CHECK(has(near, "data: 4"));
  CHECK(has(near, "data: 5"));
  CHECK_FALSE(has(taken(board, "", id(2)), "event: lost"));
  CHECK_FALSE(has(taken(board, "", id(5)), "event: x"));
  for (const std::string& far : {id(1), id(6), std::string("00000000000000aa-4"),
                                 std::string("nonsense"), id(4) + "x", std::string(kOwn)}) {
    const std::string text = taken(board, "even", far);
    INFO(far);
    CHECK(has(text, "event: lost"));
    CHECK(has(text, "data: 4"));
    CHECK_FALSE(has(text, "data: 5"));
  }
}

TEST_CASE("event board: the ring is bounded by bytes, streams by their number and by what waits") {
  EventBoard board(kIncarnation,
                   {.ring_bytes_max = 1'000, .waiting_bytes_max = 500, .streams_max = 2});
  for (int i = 0; i < 100; ++i) board.publish("x", "", std::string(100, 'a'));
  CHECK(taken(board, "", id(100 - 20)).size() < 1'500);
  auto slow = board.open({}, ""), quick = board.open({}, "");
  REQUIRE(quick);
  CHECK(board.open({}, "") == nullptr);
  for (int i = 0; i < 20; ++i) {
    board.publish("x", "", std::string(100, 'b'));
    CHECK(has(quick->take().text, "bbb"));
  }
  CHECK(slow->is_over());
  CHECK_FALSE(quick->is_over());
  CHECK(board.counts().dropped == 1);
  CHECK(board.counts().streams == 1);
  CHECK(board.open({}, "") != nullptr);
  quick.reset();
  CHECK(board.counts().streams == 0);
}

TEST_CASE("event board: an end ends all, and nothing more is opened") {
  EventBoard board(kIncarnation, {});
  const auto stream = board.open({}, "");
  board.publish("x", "", "1");
  board.end();
  const auto left = stream->take();
  CHECK(has(left.text, "data: 1"));
  CHECK(left.over);
  CHECK_FALSE(left.cut);
  CHECK(board.open({}, "") == nullptr);
  board.publish("x", "", "2");
  CHECK(board.counts().published == 1);
}

}  // namespace
}  // namespace l4::live
