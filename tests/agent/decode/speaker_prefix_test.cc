#include "agent/decode/speaker_prefix.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/agent/decode/decode_text.h"

namespace l4::decode {
namespace {

struct PrefixRow {
  const char* line;
  const char* rest;
  int rank;   // -1: none
  int local;  // -1: none
  const char* host;
};

const PrefixRow kPrefixRows[] = {
    {"[default3]:  iteration 5", " iteration 5", -1, 3, ""},
    {"[rank4]: text", "text", 4, -1, ""},
    {"[rank4]:[rank4]: text", "text", 4, -1, ""},
    {"[rank4]:[rank5]: text", "[rank5]: text", 4, -1, ""},
    {"[default1]:[rank9]:   File \"x\"", "  File \"x\"", 9, 1, ""},
    {"13: [rank13]: text", "text", 13, -1, ""},
    {" 3:   indented", "  indented", 3, -1, ""},
    {"2: [default1]: text", "text", -1, 1, ""},
    {"node-1: [default1]: text", "text", -1, 1, "node-1"},
    {"[1,4]<stdout>:text", "text", 4, -1, ""},
    {"[1,mpirank:6,algo-2]<stderr>:text", "text", 6, -1, "algo-2"},
    {"[1,mpirank:6]<stdout>:text", "text", 6, -1, ""},
    {"[1,12]<stderr>: text", "text", 12, -1, ""},
    {"(main_task pid=77) text", "text", -1, -1, ""},
    {"(WorkerDict pid=7, ip=10.0.0.3) text", "text", -1, -1, "10.0.0.3"},
    {"r7i1n2:41697:41698 [2] NCCL INFO text", "NCCL INFO text", -1, -1, "r7i1n2"},
    {" 4: h-6:334:336 [4] NCCL WARN x", "NCCL WARN x", 4, -1, "h-6"},
    {"[h-6:158742:0] module.c", "module.c", -1, -1, "h-6"},
    {"[h-6:158742] *** Process", "*** Process", -1, -1, "h-6"},
    {"[launch.py:272] text", "[launch.py:272] text", -1, -1, ""},
    {"[launch.py:272:main] text", "[launch.py:272:main] text", -1, -1, ""},
    {"[14]: text", "[14]: text", -1, -1, ""},
    {"(3, 4) text", "(3, 4) text", -1, -1, ""},
    {"unknown-1: text", "unknown-1: text", -1, -1, ""},
};

TEST_CASE("speaker prefix: one row per kind") {
  PrefixTrust trust;
  trust.labels = true;
  trust.fronts.fill(true);
  trust.host_known = [](const void*, std::string_view name) { return name == "node-1"; };
  for (const PrefixRow& row : kPrefixRows) {
    CAPTURE(std::string{row.line});
    Prefixes prefixes;
    std::string_view line = row.line;
    parse_prefixes(line, trust, prefixes);
    CHECK(std::string{line} == row.rest);
    CHECK((prefixes.speaker.rank ? prefixes.speaker.rank->value() : -1) == row.rank);
    CHECK(prefixes.speaker.local_rank.value_or(-1) == row.local);
    CHECK(std::string{prefixes.speaker.host} == row.host);
  }
}

TEST_CASE("speaker prefix: kind 'numbers that grow': padded iterations are no labels") {
  for (const char* line : {"loss 2.5", "-nan, -nan avg loss, 0.1 rate", "next"}) {
    std::string text;
    for (int i = 7; i < 14; ++i)
      text += (i < 10 ? "  " : " ") + std::to_string(i) + ": " + line + "\n";
    const auto read = test::decode_text(text);
    for (const auto& record : read.records) CHECK_FALSE(record.rank);
  }
}

TEST_CASE("speaker prefix: labels and hosts need to recur") {
  const auto once = test::decode_text("12: a note\nplain\nplain\nnode-1: a note\nplain\n");
  for (const auto& record : once.records) CHECK_FALSE(record.rank);
  CHECK(once.records[0].text == "12: a note");
  CHECK(once.records[3].text == "node-1: a note");

  const auto labels = test::decode_text("banner\n 0: a\n 1: a\n10: a\n11: a\n");
  CHECK(labels.records[3].rank == 10);
  CHECK(labels.records[3].text == "a");
  CHECK_FALSE(labels.records[0].rank);

  const auto hosts = test::decode_text("sd-1: a\nsd-2: a\nsd-1: b\nsd-2: b\nstep-x: c\n");
  CHECK(hosts.records[1].host == "sd-2");
  CHECK(hosts.records[1].text == "a");
  CHECK(hosts.records[4].text == "step-x: c");

  const auto list = test::decode_text("0: a\n1: b\n2: c\n3: d\n4: e\n");
  CHECK(list.records[4].text == "4: e");
  const auto things = test::decode_text("epoch1: a\nepoch1: b\nepoch1: c\nepoch2: a\n");
  CHECK(things.records[2].text == "epoch1: c");

  const auto words = test::decode_text("loss: 1\nloss: 2\nloss: 3\nloss: 4\n");
  CHECK(words.records[0].text == "loss: 1");
}

TEST_CASE("speaker prefix: a label beside local tags is a node, not a rank") {
  const auto decoded = test::decode_text(
      "0: [default0]:a\n0: [default1]:a\n1: [default0]:a\n1: [default1]:a\n1: torchrun says\n");
  CHECK_FALSE(decoded.records[3].rank);
  CHECK(decoded.records[3].local_rank == 1);
  CHECK(decoded.records[3].host == "1");
  CHECK_FALSE(decoded.records[4].rank);
}

}  // namespace
}  // namespace l4::decode
