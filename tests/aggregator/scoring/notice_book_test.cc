#include "aggregator/scoring/notice_book.h"

#include <doctest/doctest.h>

#include "tests/aggregator/live/seconds.h"

namespace l4::scoring {
namespace {

using alert::Kind;
using test::at;

diagnose::Notable flap(const std::string& node, const std::string& text = "a link flaps") {
  diagnose::Notable notable;
  notable.kind = "node";
  notable.node = node;
  notable.text = text;
  return notable;
}

diagnose::Report saying(std::vector<diagnose::Notable> notable, State state = State::healthy) {
  diagnose::Report report;
  report.job.attempt = 1;
  report.verdict.state = state;
  report.notable = std::move(notable);
  return report;
}

TEST_CASE("notices: each is told once, whatever its text becomes") {
  NoticeBook book("job");
  const auto first = book.reported(saying({flap("n1")}), at(0));
  REQUIRE(first.size() == 1);
  CHECK(first[0].kind == Kind::noticed);
  CHECK(first[0].notice == "job.1.node.n1");
  CHECK(first[0].job == "job");
  CHECK(first[0].summary == "a link flaps");
  CHECK(first[0].nodes == std::vector<std::string>{"n1"});
  CHECK(first[0].incident.empty());
  CHECK(alert::severity(first[0]) == alert::Severity::info);
  CHECK(book.reported(saying({flap("n1", "a link flaps often")}), at(60)).empty());
  CHECK(book.newest() == "a link flaps often");
  const auto second = book.reported(saying({flap("n1"), flap("n2", "a fan")}), at(120));
  REQUIRE(second.size() == 1);
  CHECK(second[0].notice == "job.1.node.n2");
  CHECK(book.newest() == "a fan");
  CHECK(book.open() == 2);
}

TEST_CASE("notices: one is over once no report has had it for a while") {
  NoticeBook book("job");
  static_cast<void>(book.reported(saying({flap("n1")}), at(0)));
  CHECK(book.reported(saying({}), at(200)).empty());
  CHECK(book.reported(saying({flap("n1")}), at(260)).empty());  // it was not gone
  CHECK(book.reported(saying({}), at(500)).empty());
  const auto over = book.reported(saying({}), at(560));
  REQUIRE(over.size() == 1);
  CHECK(over[0].kind == Kind::notice_over);
  CHECK(over[0].notice == "job.1.node.n1");
  CHECK(alert::is_over(over[0]));
  CHECK(book.newest().empty());
  CHECK(book.reported(saying({flap("n1")}), at(600)).size() == 1);  // it comes again
}

TEST_CASE("notices: all are over with the job") {
  NoticeBook book("job");
  static_cast<void>(book.reported(saying({flap("n1"), flap("n2")}), at(0)));
  const auto over = book.reported(saying({flap("n1"), flap("n2")}, State::finished), at(10));
  CHECK(over.size() == 2);
  CHECK(book.open() == 0);
  CHECK(book.reported(saying({flap("n1")}, State::finished), at(20)).empty());
  CHECK(book.close("gone", at(30)).empty());
}

TEST_CASE("notices: no more than the bound are open, and a restart knows them") {
  NoticeBook book("job");
  std::vector<diagnose::Notable> many;
  for (std::size_t i = 0; i < NoticeBook::kOpenMax + 9; ++i)
    many.push_back(flap("n" + std::to_string(i)));
  CHECK(book.reported(saying(many), at(0)).size() == NoticeBook::kOpenMax);
  ByteWriter saved;
  book.save(saved);
  NoticeBook again("job");
  ByteReader in(saved.bytes());
  again.load(in);
  REQUIRE(in.ok());
  CHECK(in.left() == 0);
  CHECK(again.open() == NoticeBook::kOpenMax);
  CHECK(again.reported(saying(many), at(60)).empty());
  CHECK(again.close("gone", at(70)).size() == NoticeBook::kOpenMax);
  NoticeBook broken("job");
  ByteReader cut(saved.bytes().first(saved.size() / 2));
  broken.load(cut);
  CHECK_FALSE(cut.ok());
}

}  // namespace
}  // namespace l4::scoring
