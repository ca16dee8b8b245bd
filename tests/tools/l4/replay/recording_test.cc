#include "tools/l4/replay/recording.h"

#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <string>

#include "tests/temp_folder.h"

namespace l4::replay {
namespace {

namespace fs = std::filesystem;

void write_packed(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  gzFile file = ::gzopen(path.c_str(), "wb");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
}

const Log& log_of(const Recording& recording, const std::string& name) {
  const auto found = std::ranges::find(recording.logs, name, &Log::name);
  REQUIRE(found != recording.logs.end());
  return *found;
}

bool notes_say(const Recording& recording, const std::string& words) {
  return std::ranges::any_of(recording.notes, [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

TEST_CASE("recording: nodes, and where their logs are written") {
  const test::TempFolder folder;
  folder.file("node-2/agent.log");
  folder.file("node-10/run_abcd1234/attempt_0/1/stdout.log");
  folder.file("driver.log", "");
  folder.file("other.log", "");
  const auto recording = read_recording(folder.path());
  REQUIRE(recording);
  CHECK(recording->nodes == std::vector<std::string>{"node", "node-10", "node-2"});
  CHECK(log_of(*recording, "node-2/agent.log").file == "agent.log");
  const Log& rank = log_of(*recording, "node-10/run_abcd1234/attempt_0/1/stdout.log");
  CHECK(rank.node == "node-10");
  CHECK(rank.file == "run_abcd1234/attempt_0/1/stdout.log");
  const Log& driver = log_of(*recording, "driver.log");
  CHECK(driver.node == "node");
  CHECK(driver.file == "driver.log");
  CHECK(driver.text.empty());
  CHECK(recording->notes.empty());
  const auto one = read_recording(folder.path() / "node-10");
  REQUIRE(one);
  CHECK(one->nodes == std::vector<std::string>{"node-10"});
}

TEST_CASE("recording: packed and rotated files become one plain log") {
  const test::TempFolder folder;
  write_packed(folder.path() / "node-1/train.log.2.gz", "2026-11-20 10:00:00 one\n");
  folder.file("node-1/train.log.1", "2026-11-20 11:00:00 two");
  folder.file("node-1/train.log", "2026-11-20 12:00:00 three\n");
  write_packed(folder.path() / "node-1/other.log.gz", "2026-11-20 10:00:00 four\n");
  const auto recording = read_recording(folder.path());
  REQUIRE(recording);
  REQUIRE(recording->logs.size() == 2);
  CHECK(recording->logs[0].file == "other.log");
  CHECK(recording->logs[0].text == "2026-11-20 10:00:00 four\n");
  CHECK(recording->logs[1].file == "train.log");
  CHECK(recording->logs[1].text ==
        "2026-11-20 10:00:00 one\n2026-11-20 11:00:00 two\n2026-11-20 12:00:00 three\n");
}

TEST_CASE("recording: what is left out is said") {
  const test::TempFolder folder;
  folder.file("node-1/a.log");
  folder.file("node-1/loss.csv", "1,2\n");
  folder.file("node-1/core.1234", std::string(4096, '\x01'));
  write_packed(folder.path() / "node-1/b.log.gz", std::string(100'000, 'x') + "\nend\n");
  fs::resize_file(folder.path() / "node-1/b.log.gz", 60);
  const auto recording = read_recording(folder.path());
  REQUIRE(recording);
  CHECK(notes_say(*recording, "are no logs by their extension; not replayed"));
  CHECK(notes_say(*recording, "node-1/core.1234: its first 4 KiB are not text; not replayed"));
  CHECK(notes_say(*recording, "node-1/b.log.gz: "));
  CHECK(notes_say(*recording, "it is replayed up to there"));
}

TEST_CASE("recording: nothing to read, and too much") {
  const test::TempFolder folder;
  const auto none = read_recording(folder.path() / "none");
  REQUIRE_FALSE(none);
  CHECK(none.error().where == (folder.path() / "none").string());
  CHECK_FALSE(read_recording(folder.path()));  // empty
  const auto file = folder.file("node-1/a.log", std::string(3'000'000, 'x') + "\n");
  const auto as_folder = read_recording(file);
  REQUIRE_FALSE(as_folder);
  CHECK(as_folder.error().reason == "is no folder");
  CHECK(read_recording(folder.path(), 4 << 20));
  folder.file("node-2/a.log", std::string(3'000'000, 'x') + "\n");
  const auto much = read_recording(folder.path(), 4 << 20);
  REQUIRE_FALSE(much);
  CHECK(much.error().text() ==
        folder.path().string() +
            ": holds more than 4 MiB of text, and a replay keeps all of it in memory; give the "
            "folder of one job, or of some of its nodes");
}

}  // namespace
}  // namespace l4::replay
