#include "agent/decode/wording.h"

#include <doctest/doctest.h>

#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace l4::decode {
namespace {

/// `#` becomes a number, `%` a hexadecimal digit.
std::string line_of(std::string_view form, std::mt19937& random) {
  std::string line;
  for (const char c : form) {
    if (c == '#')
      line += std::to_string(random() >> (random() % 32));
    else if (c == '%')
      line += "0123456789abcdef"[random() % 16];
    else
      line += c;
  }
  return line;
}

constexpr std::string_view kForms[] = {
    "iteration #/ # | lm loss: #.#E+# | skipped: #",
    "rank # loaded shard # of #",
    "[rank#] setting number of microbatches to constant #",
    "trainer.loop - INFO - [rank #] step #",
    "INFO [rank #] saved checkpoint",
    " INFO: # of # done",
    "NCCL INFO comm 0x%%%%%%%% rank # nranks # - Init COMPLETE",
    "[0x%%%%%%] NCCL WARN Call to recv failed: #",
    "ERROR: worker # died at 0x%%%%",
    "RuntimeError: CUDA error # at 0x%%",
    "W# tensorflow/core/x.cc:#] text #",
    "[W socket.cpp:#] [c10d] host # not found",
    "  File \"/opt/x#.py\", line #, in f#",
    "Traceback (most recent call last):",
    "    frame ##: 0x%%%%%%%%%%%%%%%% in f",
    "frame ##: c10::Error::Error(char const*) + 0x%% (0x%%%%%%%%%%%% in /lib/c10.so)",
    "  #: 0x%%%%%%%% (unknown)",
    "0x%%%%: 0x%%%% 0x%%%%",
    "goroutine # [running]:",
    "rank=# world=# E#",
    "rank#: # tokens",
    "level=# 0x%%: E 0x%",
    "#/#",
    "[E#] failed, error: #"};

TEST_CASE("wording: the memo gives the same answers as the analysis") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  WordingReader remembers;
  for (int i = 0; i < 60'000; ++i) {
    const std::string line = line_of(kForms[random() % std::size(kForms)], random);
    CAPTURE(line);
    const std::uint32_t marks = random() % 16;
    const auto read = [&](WordingReader& reader, Message& message) {
      message.stamped = (marks & 1) != 0;
      message.origin = marks == 3;
      message.fields = marks == 5;
      message.program = marks == 7;
      if (marks == 9) message.record.level = Level::error;
      return reader.read(line, message);
    };
    Message known, found;
    WordingReader finds_out;
    const auto rank = read(remembers, known);
    REQUIRE(rank == read(finds_out, found));
    REQUIRE(known.record.level == found.record.level);
    REQUIRE(known.record.text == found.record.text);
    REQUIRE(known.shape == found.shape);
    REQUIRE(known.body == found.body);
    REQUIRE(known.record.outline.collapsed == found.record.outline.collapsed);
  }
}

}  // namespace
}  // namespace l4::decode
