#include "common/wire/codec/lines_codec.h"

#include <doctest/doctest.h>

#include <random>

#include "common/wire/port.h"
#include "tests/common/wire/codec/lines_made.h"

namespace l4::wire {
namespace {

TEST_CASE("lines: what was encoded is decoded again") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    const LinesQuestion question = test::made_question(seed);
    const auto asked = decode_lines_question(encode(question));
    REQUIRE(asked);
    CHECK(*asked == question);
    const LinesAnswer answer = test::made_answer(seed);
    const auto answered = decode_lines_answer(encode(answer));
    REQUIRE(answered);
    CHECK(*answered == answer);
  }
  CHECK(decode_lines_answer(encode(LinesAnswer{})).value() == LinesAnswer{});
}

TEST_CASE("lines: as many templates as there may be, and one more") {
  LinesQuestion question = test::made_question(1);
  for (std::uint32_t id = 0; question.templates.size() < kLinesTemplatesMax; ++id)
    question.templates.emplace_back(id);
  const auto decoded = decode_lines_question(encode(question));
  REQUIRE(decoded);
  CHECK(*decoded == question);
  question.templates.emplace_back(7);
  CHECK(decode_lines_question(encode(question)).error().where == "templates");
}

TEST_CASE("lines: what breaks a rule is refused, and the field named") {
  const auto refused = [](auto change) {
    LinesQuestion question = test::made_question(2);
    change(question);
    const auto decoded = decode_lines_question(encode(question));
    return decoded ? std::string("taken") : decoded.error().text();
  };
  CHECK(refused([](LinesQuestion&) {}) == "taken");
  CHECK(refused([](LinesQuestion& q) { q.lines_max = 0; }).starts_with("lines_max"));
  CHECK(refused([](LinesQuestion& q) { q.lines_max = kLinesMax + 1; }).starts_with("lines_max"));
  CHECK(refused([](LinesQuestion& q) { q.context = 101; }).starts_with("context"));
  CHECK(refused([](LinesQuestion& q) { q.files[0].path.clear(); }).starts_with("files.path"));
  CHECK(refused([](LinesQuestion& q) {
          q.files[0].path.assign(5000, 'x');
        }).starts_with("files.path"));
  CHECK(refused([](LinesQuestion& q) {
          q.files[0].speakers[0].rank = Rank{-5};
        }).starts_with("files.speakers.rank"));
  CHECK(refused([](LinesQuestion& q) {
          q.files.resize(kLinesFilesMax + 1, q.files[0]);
        }).starts_with("files"));
  CHECK(refused([](LinesQuestion& q) {
          q.texts.assign(1, std::string(5000, 'x'));
        }).starts_with("texts"));
  CHECK(refused([](LinesQuestion& q) {
          q.around = TimeMs{Millis{std::int64_t{1} << 60}};
        }).starts_with("around"));
  LinesAnswer answer = test::made_answer(3);
  answer.lines[1].file = 2;
  CHECK(decode_lines_answer(encode(answer)).error().where == "lines.file");
  answer = test::made_answer(3);
  answer.lines[0].text.assign(kLineTextBytesMax + 1, 'x');
  CHECK(decode_lines_answer(encode(answer)).error().where == "lines.text");
}

TEST_CASE("lines: damaged bodies are refused or read, and nothing breaks") {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 20'000; ++round) {
    Bytes bytes =
        round % 2 == 0 ? encode(test::made_question(round)) : encode(test::made_answer(round));
    for (unsigned i = 0; i <= round % 4; ++i)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (round % 5 == 0) bytes.resize(random() % (bytes.size() + 1));
    if (const auto question = decode_lines_question(bytes))
      CHECK(decode_lines_question(encode(*question)).value() == *question);
    if (const auto answer = decode_lines_answer(bytes))
      CHECK(decode_lines_answer(encode(*answer)).value() == *answer);
  }
}

TEST_CASE("lines: the size of a line is foretold, so that parts fit a message") {
  LinesAnswer answer;
  answer.files = {"/a"};
  const std::size_t before = encode(answer).size();
  RawLine line;
  line.host = "node";
  line.text.assign(1000, 'x');
  answer.lines.assign(3, line);
  CHECK(encode(answer).size() <= before + 3 * encoded_bytes(line) + 16);
}

}  // namespace
}  // namespace l4::wire
