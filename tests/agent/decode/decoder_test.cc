#include "agent/decode/decoder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/agent/decode/decode_text.h"

namespace l4::decode {
namespace {

using test::Decoded;

/// Pieces that exercise every stage; joined at random they give hostile files.
const std::vector<std::string>& pieces() {
  using namespace std::string_literals;
  static const std::vector<std::string> kPieces{
      "plain line\n",
      "\n",
      "\r\n",
      "   \n",
      "[rank3]: ",
      "[default1]:",
      " 7: ",
      "12: x\n",
      "node-1: ",
      "Traceback (most recent call last):\n",
      "  File \"a.py\", line 3, in f\n",
      "    run()\n",
      "ValueError: bad\n",
      "RuntimeError\n",
      "\nDuring handling of the above exception, x\n\n",
      "terminate called after x\n",
      "  what():  y\n",
      "frame #3: f() + 0x1\n",
      "usage: a [-h]\n",
      "a.py: error: b\n",
      "x.py:3: UserWarning: y\n",
      "  warnings.warn(\n",
      "\r",
      " 5%|#  | 5/100 [00:01<00:19]",
      "{'loss': 1.0}\n",
      "\x1b[32m",
      "[93m",
      "\0"s,
      "\xff",
      "\xe2\x96\x88",
      "====================\n",
      "[2026-11-20 15:58:27,363] [WARNING] ",
      "I20261120 15:54:09.2 77 f.cpp:49] ",
      "2024-05-01T10:00:00.1Z stdout P ",
      "2024-05-01T10:00:00.1Z stderr F ",
      "{\"log\":\"a\\n\",\"stream\":\"stdout\",\"time\":\"2024-05-01T10:00:00Z\"}\n",
      "Fatal Python error: Aborted\n",
      "*** SIGSEGV ***\n",
      "    @ 0x7f f()\n",
      std::string(300, 'x'),
      "(main pid=7) ",
      "[1,4]<stdout>:",
      "h-1:22:33 [0] NCCL WARN ",
      "[INFO|",
      "[pod/a-0/c] ",
      "(raylet) ",
      "a-b-0 c x\n",
      "node-2  | ",
      "[2] ",
      "<34>Nov 20 15:54:21 host su: x\n",
      "<165>1 2026-11-20T15:54:21Z h a 7 - [m a=\"1\\]\"] ",
      "[22:10:00] ",
      "[12345.678901] ",
      "6,1,2,-;x\n",
      "1795190061.5 ",
      "{\"msg\": \"a\\u00e4 \\n b\", \"level\": \"warn\", \"ts\": 1795190061.5, \"r\": {\"k\": "
      "[1]}}\n",
      "{\"msg\": \"Traceback (most recent call last):\\nE: x\", ",
      "\"rank\": 3}\n",
      "{",
      "}",
      "\\",
      "\"",
      "level=info msg=\"a b\" k=v\n",
      "\xef\xbb\xbf",
      "goroutine 1 [running]:\n",
      "panic: x\n",
      "main.f(0x1)\n",
      "\tat a.b(C.java:1)\n",
      "thread 'x' panicked at y:\n",
      "\xe2\x94\x82 box\n",
      " [repeated 7x across cluster]\n",
      "[",
      "]",
      ": ",
      "{\n",
      "  \"level\": \"error\",\n",
      "  \"msg\": \"a\"\n",
      "}\n",
      "word2024-01-01 10:00:00,120 - INFO - x",
      "more text than that of a stamp[rank5]: x",
      " 34%|####      Memory fault",
      "e\0r\0r\0o\0r\0\n"s,
      "5.2srun: error: n1: x\n",
      "\n"};
  return kPieces;
}

unsigned seed_of_run() {
  if (const char* given = std::getenv("L4_TEST_SEED"))
    return static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  return std::random_device{}();
}

std::string hostile_text(std::mt19937& random, std::size_t count) {
  std::string text;
  std::uniform_int_distribution<std::size_t> pick(0, pieces().size() - 1);
  for (std::size_t i = 0; i < count; ++i) text += pieces()[pick(random)];
  return text;
}

TEST_CASE("decoder: any chunking of the same bytes gives the same records") {
  const unsigned seed = seed_of_run();
  MESSAGE("seed ", seed, " (L4_TEST_SEED)");
  std::mt19937 random{seed};
  const Options options{.line_bytes_max = 256, .fold_lines_max = 20};
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const std::string text = hostile_text(random, round < 30 ? 200 : 8000);
    const Decoded whole = test::decode_text(text, options);
    std::uniform_int_distribution<std::size_t> size(1, round % 2 == 0 ? 7 : 5000);
    const Decoded parts = test::decode_chunks(text, [&] { return size(random); }, options);
    CHECK(parts.records == whole.records);
    CHECK(parts.stats.lines == whole.stats.lines);
    CHECK(parts.format == whole.format);
  }
}

TEST_CASE("decoder: every line is in a record, or counted as blank or as no text") {
  const unsigned seed = seed_of_run();
  MESSAGE("seed ", seed, " (L4_TEST_SEED)");
  std::mt19937 random{seed};
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const std::string text = hostile_text(random, 300);
    const Decoded decoded = test::decode_text(text, {.line_bytes_max = 256, .fold_lines_max = 20});
    std::set<std::uint64_t> seen;
    for (const auto& record : decoded.records) {
      REQUIRE_FALSE(record.lines.empty());
      CHECK(std::is_sorted(record.lines.begin(), record.lines.end()));
      CHECK_FALSE(record.text.empty());
      CHECK(record.bytes.from < record.bytes.to);
      CHECK(record.bytes.to <= text.size());
      seen.insert(record.lines.begin(), record.lines.end());
    }
    CHECK(seen.size() + decoded.stats.blank_lines + decoded.stats.lines_not_text ==
          decoded.stats.lines);
    CHECK(decoded.stats.bytes == text.size());
    CHECK(decoded.stats.records == decoded.records.size());
    const auto newlines = std::count(text.begin(), text.end(), '\n');
    CHECK(decoded.stats.lines ==
          static_cast<std::uint64_t>(newlines) + (text.empty() || text.back() == '\n' ? 0 : 1));
  }
}

TEST_CASE(
    "decoder: JSON over several lines is one record, whoever writes it and whatever wraps it") {
  const std::vector<std::string> object{"{",
                                        "  \"level\": \"ERROR\",",
                                        "  \"fields\": {",
                                        "    \"rank\": 3",
                                        "  },",
                                        "  \"msg\": \"the {device} is gone\"",
                                        "}"};
  for (const std::string front :
       {"", "[rank3]: ", "2026-11-20T15:54:21.123456Z stderr F ", "[1,3]<stderr>:", "\t"}) {
    CAPTURE(front);
    std::string text;
    for (const std::string& line : object) text += front + line + "\n";
    const Decoded decoded = test::decode_text(text + (front == "\t" ? "" : front) + "next\n");
    REQUIRE(decoded.records.size() == 2);
    const test::Kept& record =
        decoded.records[0].lines.size() > 1 ? decoded.records[0] : decoded.records[1];
    CHECK(record.text == "the {device} is gone");
    CHECK(record.level == Level::error);
    CHECK(record.rank == 3);
    CHECK(record.lines.size() == 7);
    CHECK(record.bytes.from == 0);
    CHECK(record.bytes.to == text.size());
    CHECK(decoded.stats.joined_lines == 7);
  }
}

TEST_CASE("decoder: what only begins like an object is given line by line") {
  for (const std::string text :
       {"{\n  \"a\": 1,\nother text\n", "{\n  \"a\": 1\n", "{ block\n  x\n}\n",
        "{\n\"a\": \"no end\n}\n", "{\n  \"a\": [1}\n"}) {
    CAPTURE(text);
    const Decoded decoded = test::decode_text(text);
    CHECK(decoded.records.size() == static_cast<std::size_t>(std::ranges::count(text, '\n')));
    CHECK(decoded.stats.joined_lines == 0);
  }
  std::string config = "{\n";  // too long for one line
  for (int i = 0; i < 300; ++i) config += "  \"key " + std::to_string(i) + "\": 1,\n";
  CHECK(test::decode_text(config + "  \"end\": 0\n}\n").records.size() == 303);
}

TEST_CASE("decoder: a line that waited for the rest of an object joins no fold that went on") {
  // The frame without a tag goes to the fold of the rank, whose brace still waits.
  for (const std::string waits : {"{", "{ \"a\": [", "{\n[rank3]:   \"a\": 1,"}) {
    CAPTURE(waits);
    const Decoded decoded =
        test::decode_text("[rank3]: Traceback (most recent call last):\n[rank3]: " + waits +
                          "\n    @ 0x7f run()\n[rank3]: ValueError: bad\n");
    const auto waited = static_cast<std::uint64_t>(1 + std::ranges::count(waits, '\n'));
    CHECK(decoded.records.size() == 1 + waited);
    const auto folded = std::ranges::find(decoded.records, true, &test::Kept::folded);
    REQUIRE(folded != decoded.records.end());
    CHECK(folded->text == "ValueError: bad");
    CHECK(folded->lines == std::vector<std::uint64_t>{1, 2 + waited, 3 + waited});
  }
}

TEST_CASE("decoder: a line that is given back by an object and says nothing is blank") {
  for (const std::string blank :
       {" 5%|#  | 5/100 [00:01<00:19][1,4]<stdout>:", "{\"msg\": \"[default1]: \"}",
        " 5%|#  | 5/100 [00:01<00:19][rank3]: "}) {
    CAPTURE(blank);
    const Decoded alone = test::decode_text(blank + "\nother text\n");
    const Decoded within = test::decode_text("{\n" + blank + "\nother text\n");
    CHECK(within.stats.records == alone.stats.records + 1);
    CHECK(within.stats.blank_lines == alone.stats.blank_lines);
    CHECK(within.stats.records + within.stats.blank_lines == 3);
  }
}

TEST_CASE("decoder: a line of UTF-16 among others, and letters of Latin-1") {
  for (const bool big : {false, true}) {
    CAPTURE(big);
    std::string wide;
    for (const char c : std::string("[rank2]: RuntimeError: no device\r\n"))
      wide += big ? std::string{'\0', c} : std::string{c, '\0'};
    const Decoded decoded = test::decode_text("before\n" + wide + wide + "behind\n");
    CHECK(std::ranges::count(decoded.records, "RuntimeError: no device", &test::Kept::text) == 2);
    CHECK(std::ranges::count(decoded.records, "behind", &test::Kept::text) == 1);
    CHECK(decoded.stats.wide_lines == 2);
    CHECK(decoded.stats.lines == 4);
  }
  const Decoded latin = test::decode_text(
      "m\xe9moire insuffisante, Gr\xf6\xdf"
      "e 12\n\xe2\x96 cut\n");
  REQUIRE(latin.records.size() == 2);
  CHECK(latin.records[0].text == "m\u00e9moire insuffisante, Gr\u00f6\u00dfe 12");
  CHECK(latin.records[1].text == "\ufffd\ufffd cut");
}

TEST_CASE("decoder: a bar's count goes with the text that was printed over it or into it") {
  const std::string bar = "\r 33%|###       | 30/90 [00:30<01:00,  1.00s/it]";
  for (const std::string& text :
       {bar + "RuntimeError: no memory\n", bar + "\r          \rRuntimeError: no memory\n",
        bar + "\r 34%|###   RuntimeError: no memory    | 31/90 [00:31<00:59, 1.00s/it]\n",
        bar + "\r 34%|###       RuntimeError: no memory\n"}) {
    CAPTURE(text);
    const Decoded decoded = test::decode_text("begin\n" + text);
    REQUIRE(decoded.records.size() == 2);
    CHECK(decoded.records[1].text == "RuntimeError: no memory");
    CHECK(decoded.records[1].progress.value_or(0) >= 30);
    CHECK(decoded.records[1].level == Level::error);
    CHECK(decoded.records[1].bar.find("30/90") != std::string_view::npos);
  }
  const Decoded tagged =
      test::decode_text(bar.substr(1) + "[rank1]:[W609 x.cpp:1400] Warning: unused\n" + bar +
                        "\r[rank1]: done\n[1,0]<stderr>:" + bar.substr(1) + "no memory\n");
  REQUIRE(tagged.records.size() == 4);
  CHECK(tagged.records[0].progress == 30);
  CHECK(tagged.records[1].rank == 1);
  CHECK_FALSE(tagged.records[1].progress);
  CHECK(tagged.records[2].rank == 1);
  CHECK_FALSE(tagged.records[2].progress);
  CHECK(tagged.records[3].rank == 0);
  CHECK(tagged.records[3].progress == 30);
  const Decoded open =
      test::decode_text("Fit: 12it [00:30,  1.00s/it]RuntimeError: no memory\nready\n");
  REQUIRE(open.records.size() == 2);
  CHECK(open.records[0].progress == 12);
  CHECK_FALSE(open.records[0].progress_total);
  CHECK(open.records[0].bar == "Fit: 12it [00:30,  1.00s/it]");
  CHECK(open.records[1].bar.empty());
}

TEST_CASE("decoder: an endless line runs in constant memory and is counted") {
  std::size_t records = 0;
  std::size_t longest = 0;
  Decoder decoder{{}, [&](const Record& record) {
                    ++records;
                    longest = std::max(longest, record.text.size());
                  }};
  const std::string chunk(1 << 20, 'x');
  for (int i = 0; i < 64; ++i) decoder.feed(chunk);
  decoder.feed("\nnext\n");
  decoder.finish();
  CHECK(records == 2);
  CHECK(longest == Options{}.line_bytes_max);
  CHECK(decoder.stats().cut_lines == 1);
}

TEST_CASE("decoder: progress bars") {
  const auto decoded = test::decode_text(
      "\r  0%|          | 0/100 [00:00<?, ?it/s]\r  1%|1         | 1/100 [00:01<01:39,  1.0s/it]"
      "{'loss': 2.5, 'epoch': 0.1}\n"
      "\r  2%|2         | 2/100 [00:02<01:38]11/20/2026 15:56:37 - INFO - m - Process rank: 3, x\n"
      "100%|##########| 100/100 [01:40<00:00]\n");
  REQUIRE(decoded.records.size() == 3);
  CHECK(decoded.records[0].text == "{'loss': 2.5, 'epoch': 0.1}");
  CHECK(decoded.records[0].progress == 1);
  CHECK(decoded.records[0].updates == 2);
  CHECK(decoded.records[1].time);
  CHECK(decoded.records[1].rank == 3);
  CHECK(decoded.records[2].progress == 100);
  CHECK(decoded.records[2].text.starts_with("100%|"));
}

TEST_CASE("decoder: a line that is only a date keeps it as its text") {
  const auto decoded = test::decode_text("Wed Jun 13 02:24:45 2024\n   \n");
  REQUIRE(decoded.records.size() == 1);
  CHECK(decoded.records[0].text == "Wed Jun 13 02:24:45 2024");
  CHECK(decoded.records[0].time);
  CHECK(decoded.stats.blank_lines == 1);
}

TEST_CASE("decoder: the same meaning has the same text whichever rank says it") {
  const auto decoded = test::decode_text(
      "[2026-11-20 15:54:21,1] [INFO] text\n[rank3]: [2026-11-20 15:54:22,1] [INFO] text\n"
      "2026-11-20T15:59:40.532Z node-00 rank=0 INFO trainer: a\n"
      "2026-11-20T15:59:40.632Z r7i1n2 rank=9 INFO trainer: a\n");
  REQUIRE(decoded.records.size() == 4);
  CHECK(decoded.records[0].text == decoded.records[1].text);
  CHECK(decoded.records[2].text == decoded.records[3].text);
  CHECK(decoded.records[3].host == "r7i1n2");
  CHECK(decoded.stats.lines_with_time == 4);
  CHECK(decoded.stats.lines_with_rank == 3);
}

TEST_CASE("decoder: starting inside a file") {
  std::vector<std::uint64_t> lines;
  std::uint64_t from = 0;
  Decoder decoder{{}, [&](const Record& record) {
                    lines.push_back(record.lines.front());
                    if (from == 0) from = record.bytes.from;
                  }};
  decoder.start_at(41, 1000);
  decoder.feed("a\nb");
  decoder.flush_block();
  CHECK(lines == std::vector<std::uint64_t>{41});
  CHECK(from == 1000);
  decoder.feed("c\n");
  decoder.finish();
  CHECK(lines == std::vector<std::uint64_t>{41, 42});
}

}  // namespace
}  // namespace l4::decode
