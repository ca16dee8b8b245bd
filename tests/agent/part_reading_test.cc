// Files that have changed since discovery: the warnings, and the bytes that are still read.
#include "agent/part_reading.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "agent/discover/walk.h"
#include "tests/temp_folder.h"

namespace l4::agent {
namespace {

struct Outcome {
  std::uint64_t expected = 0, bytes = 0;
  std::vector<wire::Warning> warnings;
};

FilePart found(const std::filesystem::path& path) {
  const auto file = discover::inspect(path, path.filename().string());
  REQUIRE(file);
  return {file->path, file->relative, file->on_disk, {}, 0};
}

Outcome read(const FilePart& part) {
  Outcome outcome;
  decode::Decoder decoder({}, [](const decode::Record&) {});
  std::vector<char> chunk(4096);
  std::atomic<std::uint64_t> done{0};
  const std::stop_token stop;
  PartReading reading{chunk, done, stop, outcome.warnings};
  outcome.expected = read_part(part, [&](std::string_view text) { decoder.feed(text); }, reading);
  decoder.finish();
  outcome.bytes = decoder.stats().bytes;
  CHECK(done == outcome.bytes);
  return outcome;
}

TEST_CASE("part reading: a file that did not change says nothing") {
  const l4::test::TempFolder folder;
  const auto outcome = read(found(folder.file("a.log", "one\ntwo\n")));
  CHECK(outcome.bytes == 8);
  CHECK(outcome.expected == 8);
  CHECK(outcome.warnings.empty());
}

TEST_CASE("part reading: gone, replaced, shorter and longer files are told apart") {
  struct Row {
    const char* kind;
    const char* now;  // nothing: removed
    bool replace;
    std::uint64_t lost, read;
  };
  for (const Row& row :
       {Row{"vanished", nullptr, false, 8, 0}, Row{"replaced", "new\n", true, 8, 4},
        Row{"incomplete", "one\n", false, 4, 4}, Row{"grew", "one\ntwo\nthree\n", false, 0, 14}}) {
    CAPTURE(row.kind);
    const l4::test::TempFolder folder;
    const auto path = folder.file("a.log", "one\ntwo\n");
    const FilePart part = found(path);
    if (row.now == nullptr) {
      std::filesystem::remove(path);
    } else if (row.replace) {
      std::filesystem::rename(folder.file("b.log", row.now), path);
    } else {
      folder.file("a.log", row.now);
    }
    const auto outcome = read(part);
    REQUIRE(outcome.warnings.size() == 1);
    CHECK(outcome.warnings[0].kind == row.kind);
    CHECK(outcome.warnings[0].file == "a.log");
    CHECK(outcome.warnings[0].bytes == row.lost);
    CHECK(outcome.bytes == row.read);
  }
}

TEST_CASE("part reading: what the decoder leaves out is told with its bytes") {
  decode::Stats stats;
  stats.bytes = 1000;
  std::vector<wire::Warning> warnings;
  note_left_out(stats, {}, "a.log", warnings);
  CHECK(warnings.empty());
  stats.lines_not_text = 3;
  stats.bytes_not_text = 700;
  stats.cut_lines = 1;
  stats.cut_bytes = 50;
  stats.clock.note(TimeMs{Millis{7'200'000}}, 1);
  stats.clock.note(TimeMs{Millis{0}}, 9);
  note_left_out(stats, {}, "a.log", warnings);
  REQUIRE(warnings.size() == 3);
  CHECK(warnings[0].kind == "binary");
  CHECK(warnings[0].bytes == 700);
  CHECK(warnings[1].kind == "cut");
  CHECK(warnings[1].bytes == 50);
  CHECK(warnings[2].kind == "clock");
  CHECK(warnings[2].reason == "times step back by 2 h 0 min at line 9");
}

}  // namespace
}  // namespace l4::agent
