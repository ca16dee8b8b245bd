#include "agent/decode/envelope.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/agent/decode/decode_text.h"

namespace l4::decode {
namespace {

TEST_CASE("envelope: CRI") {
  std::string scratch;
  const auto full = open_envelope("2024-05-01T10:00:00.123456789Z stdout F text here", scratch);
  REQUIRE(full);
  CHECK(full->content == "text here");
  CHECK(full->stream == Stream::out);
  CHECK_FALSE(full->partial);
  REQUIRE(full->time);
  CHECK(to_rfc3339(*full->time) == "2024-05-01T10:00:00.123Z");
  const auto part = open_envelope("2024-05-01T10:00:00.1+02:00 stderr P:x text", scratch);
  REQUIRE(part);
  CHECK(part->partial);
  CHECK(open_envelope("2024-05-01T10:00:00.123456789Z stdout F", scratch)->content.empty());
  CHECK_FALSE(open_envelope("2024-05-01T10:00:00.123456789Z node rank=1 INFO x", scratch));
}

TEST_CASE("envelope: docker's JSON") {
  std::string scratch;
  const auto open = open_envelope(
      "{\"log\":\"a \\\"b\\\"\\t\\u00e4\\ud83d\\ude00\\n\",\"stream\":\"stderr\","
      "\"time\":\"2024-05-01T10:00:00.5Z\"}",
      scratch);
  REQUIRE(open);
  CHECK(open->content == "a \"b\"\t\u00e4\U0001F600");
  CHECK(open->stream == Stream::err);
  CHECK_FALSE(open->partial);
  CHECK_FALSE(open_envelope("{\"log\":\"never closed", scratch));
  CHECK_FALSE(open_envelope("{\"loss\": 1}", scratch));
}

TEST_CASE("envelope: partial lines are joined per stream, the message's stamp wins") {
  const auto decoded = test::decode_text(
      "2024-05-01T10:00:00.1Z stdout P [2024-05-01 09:59:59,000] [WARN\n"
      "2024-05-01T10:00:00.2Z stderr F between\n"
      "2024-05-01T10:00:00.3Z stdout F ING] joined\n");
  REQUIRE(decoded.records.size() == 2);
  CHECK(decoded.records[0].text == "between");
  CHECK(to_rfc3339(*decoded.records[0].time) == "2024-05-01T10:00:00.200Z");
  CHECK(decoded.records[1].text == "[WARNING] joined");
  CHECK(decoded.records[1].lines == std::vector<std::uint64_t>{1, 3});
  CHECK(to_rfc3339(*decoded.records[1].time) == "2024-05-01T09:59:59.000Z");
}

TEST_CASE("envelope: a bar in a container keeps its envelope") {
  const auto decoded = test::decode_text(
      "2024-05-01T10:00:00.1Z stdout F  1%|#  | 1/100 [00:01<01:39]\r 2%|#  | 2/100 "
      "[00:02<01:38]\n");
  REQUIRE(decoded.records.size() == 1);
  CHECK(decoded.records[0].time);
  CHECK(decoded.records[0].updates == 1);
  CHECK(decoded.records[0].progress == 2);
}

}  // namespace
}  // namespace l4::decode
