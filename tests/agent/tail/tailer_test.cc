#include "agent/tail/tailer.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/agent/tail/collector.h"
#include "tests/temp_folder.h"

namespace l4::tail {
namespace {

namespace fs = std::filesystem;

/// A tailer over a real folder, with time that the test moves.
class Bench {
 public:
  explicit Bench(Options given = {}, bool notices = true) : options(std::move(given)) {
    if (options.sources.empty()) options.sources = {folder.path() / "logs"};
    fs::create_directories(folder.path() / "logs");
    notices_ = notices;
    start();
  }
  void start(const std::vector<Position>& positions = {}) {
    ++options.seed;
    auto watcher = notices_ ? make_inotify_watcher() : make_blind_watcher();
    REQUIRE(watcher);
    auto made = Tailer::make(options, real_file_system(), std::move(*watcher));
    REQUIRE(made);
    tailer.emplace(std::move(*made));
    tailer->resume(positions);
  }
  /// Plays a kill: bytes that are not committed are given again.
  void restart(bool with_positions = true) {
    const auto positions = tailer->positions();
    tailer.reset();
    sink.forget_uncommitted();
    std::vector<Position> committed;
    for (const Position& position : positions)
      if (with_positions && position.offset > 0) committed.push_back(position);
    start(committed);
  }
  void turn() {
    now += Millis{200};
    for (int i = 0; i < 1000 && tailer->turn(sink, at()); ++i) {
    }
  }
  void pass(Millis time) {
    for (const Millis end = now + time; now < end;) turn();
  }
  Now at() const {
    return {now, std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now())};
  }
  fs::path path(const std::string& name) const { return folder.path() / "logs" / name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(path(name).parent_path());
    std::ofstream{path(name), std::ios::app | std::ios::binary} << text;
  }
  void pack(const std::string& name, const std::string& packed) const {
    std::ifstream in(path(name), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    gzFile out = ::gzopen(path(packed).c_str(), "wb");
    ::gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    ::gzclose(out);
    fs::remove(path(name));
  }
  std::string taken() {
    turn();
    std::string text = sink.text_of_all().substr(taken_);
    taken_ += text.size();
    return text;
  }

  test::TempFolder folder;
  Options options;
  Collector sink;
  std::optional<Tailer> tailer;
  Millis now{1'000};

 private:
  static Outcome<std::unique_ptr<Watcher>> make_blind_watcher() {
    return l4::tail::make_blind_watcher();
  }
  bool notices_ = true;
  std::size_t taken_ = 0;
};

TEST_CASE("tailer: what is appended is given, late files and folders too") {
  Bench bench;
  bench.write("rank0.log", "one\n");
  CHECK(bench.taken() == "one\n");
  CHECK(bench.taken().empty());
  bench.write("rank0.log", "two\nhal");
  CHECK(bench.taken() == "two\nhal");
  CHECK(bench.sink.quiets.empty());
  bench.pass(Millis{1'200});
  CHECK(bench.sink.quiets.size() == 1);
  bench.write("rank0.log", "f\n");
  CHECK(bench.taken() == "f\n");
  bench.write("node1/deep/rank1.log", "late\n");
  CHECK(bench.taken() == "late\n");
  bench.write("data.pt", "no log\n");
  bench.write("raw.out", std::string(5000, '\1'));
  CHECK(bench.taken().empty());
  CHECK(bench.sink.warned("binary") == 1);
  CHECK(bench.sink.logs.size() == 2);
  CHECK(bench.tailer->counters().bytes == 18);
}

TEST_CASE("tailer: a part tells who owns its file, and another part who owns that") {
  Bench bench;
  bench.write("rank0.log", "one\n");
  CHECK(bench.taken() == "one\n");
  CHECK(bench.sink.users == std::vector<std::optional<std::uint32_t>>{::geteuid()});
  fs::rename(bench.path("rank0.log"), bench.path("rank0.log.1"));
  bench.write("rank0.log", "two\n");
  const bool given = ::chown(bench.path("rank0.log").c_str(), 4711, 4711) == 0;
  CHECK(bench.taken() == "two\n");
  REQUIRE(bench.sink.users.size() == 2);
  CHECK(bench.sink.users[1] == (given ? 4711 : ::geteuid()));
}

TEST_CASE("tailer: a file that the sources name exactly is read whatever its name is") {
  for (const std::string name : {"metrics.jsonl", "notes.csv", ".hidden.log", "weights.pt"}) {
    CAPTURE(name);
    for (const bool exactly : {true, false}) {
      Options options;
      const test::TempFolder folder;
      options.sources = {exactly ? folder.path() / name : folder.path()};
      Bench bench(options);
      std::ofstream(folder.path() / name) << "no logger wrote this\n";
      CHECK(bench.taken() == (exactly ? "no logger wrote this\n" : ""));
      std::ofstream(folder.path() / name, std::ios::app) << "but it grows\n";
      CHECK(bench.taken() == (exactly ? "but it grows\n" : ""));
    }
  }
}

TEST_CASE("tailer: UTF-16 is text for it, which the decoder decodes") {
  Bench bench;
  std::string wide = "\xff\xfe";
  for (const char c : std::string("RuntimeError: the device is gone\r\n")) wide.append({c, '\0'});
  bench.write("rank0.log", wide);
  CHECK(bench.taken() == wide);
  bench.write("rank1.log", "plain text\n" + wide.substr(2) + wide.substr(2));
  CHECK(bench.taken().size() == 11 + 2 * (wide.size() - 2));
  CHECK(bench.sink.warned("binary") == 0);
}

TEST_CASE("tailer: renamed files are read to their end before the new one") {
  for (const bool notices : {true, false}) {
    CAPTURE(notices);
    Bench bench({}, notices);
    bench.write("a.log", "1\n2\n");
    bench.pass(Millis{1'200});
    CHECK(bench.taken() == "1\n2\n");
    bench.write("a.log", "3\n");
    fs::rename(bench.path("a.log"), bench.path("a.log.1"));
    bench.write("a.log", "4\n");
    bench.pass(Millis{1'200});
    CHECK(bench.taken() == "3\n4\n");
    CHECK(bench.sink.logs.size() == 1);
    // Late bytes of a writer that has not opened the new file yet.
    bench.write("a.log.1", "late\n");
    bench.pass(Millis{1'200});
    CHECK(bench.taken() == "late\n");
    bench.write("a.log", "5\n");
    fs::rename(bench.path("a.log.1"), bench.path("a.log.2"));
    fs::rename(bench.path("a.log"), bench.path("a.log.1"));
    bench.pack("a.log.2", "a.log.2.gz");
    bench.write("a.log", "6\n");
    bench.pass(Millis{1'200});
    CHECK(bench.taken() == "5\n6\n");
    bench.pass(Millis{90'000});
    CHECK(bench.taken().empty());
    CHECK(bench.sink.lost == 0);
  }
}

TEST_CASE("tailer: files are taken up where they were committed, whatever they are called now") {
  Bench bench;
  for (int i = 0; i < 40; ++i) bench.write("a.log", "line " + std::to_string(i) + "\n");
  bench.write("b.log", "short\n");
  bench.turn();
  bench.sink.commit(*bench.tailer);
  bench.write("a.log", "unread\n");
  bench.taken();
  const auto positions = bench.tailer->positions();
  bench.tailer.reset();
  bench.sink.forget_uncommitted();
  SUBCASE("renamed") {
    fs::rename(bench.path("a.log"), bench.path("a.log.1"));
  }
  SUBCASE("packed") {
    bench.pack("a.log", "a.log.1.gz");
  }
  SUBCASE("copied and truncated") {
    fs::copy_file(bench.path("a.log"), bench.path("a.log.1"));
    fs::resize_file(bench.path("a.log"), 0);
  }
  SUBCASE("as it was") {}
  SUBCASE("another inode") {
    fs::copy_file(bench.path("a.log"), bench.path("tmp"));
    fs::remove(bench.path("a.log"));
    fs::rename(bench.path("tmp"), bench.path("a.log"));
  }
  bench.write("a.log", "new\n");
  bench.start(positions);
  CHECK(bench.taken() == "unread\nnew\n");
  bench.pass(Millis{20'000});
  CHECK(bench.taken().empty());
  CHECK(bench.sink.lost == 0);
}

TEST_CASE("tailer: what was not committed and is gone is counted, what was committed is not") {
  Bench bench;
  bench.write("a.log", "some text that is committed\n");
  bench.write("b.log", "other text that is committed\n");
  bench.turn();
  bench.sink.commit(*bench.tailer);
  bench.write("a.log", "123456789\n");
  bench.turn();
  const auto positions = bench.tailer->positions();
  bench.tailer.reset();
  bench.sink.forget_uncommitted();
  fs::remove(bench.path("a.log"));
  fs::remove(bench.path("b.log"));
  bench.start(positions);
  bench.pass(Millis{10'000});
  CHECK(bench.sink.lost == 10);
  REQUIRE(bench.sink.losses.size() == 1);
  CHECK(bench.sink.losses[0].why == Missing::gone);
  CHECK(bench.sink.forgot.size() == 1);
  bench.sink.commit(*bench.tailer);
  bench.turn();
  CHECK(bench.sink.forgot.size() == 2);
  CHECK(bench.tailer->positions().empty());
  CHECK(bench.sink.logs.empty());
}

TEST_CASE("tailer: copied and truncated: unread bytes are found in the copy") {
  Bench bench;
  bench.write("a.log", "first\n");
  CHECK(bench.taken() == "first\n");
  for (int i = 0; i < 3; ++i) {
    bench.write("a.log", "unread " + std::to_string(i) + "\n");
    fs::copy_file(bench.path("a.log"), bench.path("a.log." + std::to_string(3 - i)));
    fs::resize_file(bench.path("a.log"), 0);
    bench.write("a.log",
                "then, and longer than what stood there before " + std::to_string(i) + "\n");
    CHECK(bench.taken() == "unread " + std::to_string(i) +
                               "\nthen, and longer than what stood there before " +
                               std::to_string(i) + "\n");
  }
  CHECK(bench.sink.lost == 0);
  CHECK(bench.tailer->counters().truncations == 3);
  CHECK(bench.sink.warned("truncated") == 1);
}

TEST_CASE("tailer: who does not append leaves a hole when its file is truncated, and is read on") {
  for (const bool restarted : {false, true}) {
    CAPTURE(restarted);
    Bench bench;
    const std::string before = std::string(9'000, 'a') + "\n";
    bench.write("a.log", before);
    CHECK(bench.taken() == before);
    bench.sink.commit(*bench.tailer);
    fs::copy_file(bench.path("a.log"), bench.path("a.log.1"));
    fs::resize_file(bench.path("a.log"), 0);
    bench.pass(Millis{1'200});
    if (restarted) bench.restart();
    const std::string hole(before.size(), '\0');
    fs::resize_file(bench.path("a.log"), hole.size());
    bench.pass(Millis{1'200});  // a hole alone, whose text follows later
    bench.write("a.log", "on\n");
    bench.pass(Millis{1'200});
    CHECK(bench.taken() == hole + "on\n");
    bench.write("a.log", "and on\n");
    CHECK(bench.taken() == "and on\n");
    bench.sink.commit(*bench.tailer);
    fs::copy_file(bench.path("a.log"), bench.path("a.log.2"));  // the same once more
    fs::resize_file(bench.path("a.log"), 0);
    fs::resize_file(bench.path("a.log"), hole.size() + 10);
    bench.write("a.log", "to the end\n");
    bench.pass(Millis{1'200});
    CHECK(bench.taken() == std::string(hole.size() + 10, '\0') + "to the end\n");
    CHECK(bench.sink.warned("binary") == 0);
    CHECK(bench.sink.lost == 0);
  }
}

TEST_CASE("tailer: truncated without a copy: what was known and not read is counted") {
  Options options;
  options.bytes_per_file = options.bytes_per_turn = 10;
  Bench bench(options);
  bench.write("a.log", "0123456789abcdefghij");
  bench.tailer->turn(bench.sink, bench.at());  // one turn reads half of the text
  fs::resize_file(bench.path("a.log"), 0);
  bench.write("a.log", "new\n");
  bench.pass(Millis{5'000});
  CHECK(bench.sink.text_of_all() == "0123456789new\n");
  CHECK(bench.sink.lost == 10);
  CHECK(bench.sink.losses[0].why == Missing::truncated);
}

TEST_CASE("tailer: a deleted file is read to its end, and let go in time") {
  Bench bench;
  bench.write("a.log", "begin\n");
  CHECK(bench.taken() == "begin\n");
  std::ofstream writer{bench.path("a.log"), std::ios::app};
  fs::remove(bench.path("a.log"));
  writer << "after\n" << std::flush;
  bench.pass(Millis{2'000});
  CHECK(bench.taken() == "after\n");
  CHECK(bench.tailer->counters().open_files == 1);
  bench.pass(Millis{60'000});
  CHECK(bench.tailer->counters().open_files == 0);
  CHECK(bench.sink.ended.size() == 1);
  CHECK(bench.sink.forgot.empty());
  bench.sink.commit(*bench.tailer);
  bench.turn();
  CHECK(bench.sink.forgot.size() == 1);
  bench.write("a.log", "again\n");
  CHECK(bench.taken() == "again\n");
  CHECK(bench.sink.logs.size() == 1);
}

TEST_CASE("tailer: old files begin at their end, and say so") {
  Bench bench;
  bench.write("old.log", "history\n");
  fs::last_write_time(bench.path("old.log"),
                      fs::file_time_type::clock::now() - std::chrono::hours{30});
  bench.write("young.log", "today\n");
  CHECK(bench.taken() == "today\n");
  REQUIRE(bench.sink.losses.size() == 1);
  CHECK(bench.sink.losses[0].why == Missing::old);
  CHECK(bench.sink.lost == 0);
  bench.write("old.log", "now\n");
  CHECK(bench.taken() == "now\n");
}

TEST_CASE("tailer: more files than descriptors") {
  Options options;
  options.descriptors_max = 16;
  Bench bench(options);
  for (int round = 0; round < 3; ++round) {
    std::size_t bytes = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string text = std::to_string(round) + " of " + std::to_string(i) + "\n";
      bench.write("rank" + std::to_string(i) + ".log", text);
      bytes += text.size();
    }
    CHECK(bench.taken().size() == bytes);
    CHECK(bench.tailer->counters().open_files <= 16);
  }
  CHECK(bench.sink.lost == 0);
}

TEST_CASE("tailer: the folder is removed and comes back") {
  for (const bool notices : {true, false}) {
    Bench bench({}, notices);
    bench.write("a.log", "one\n");
    CHECK(bench.taken() == "one\n");
    fs::remove_all(bench.path(""));
    bench.pass(Millis{3'000});
    bench.write("a.log", "two\n");
    bench.pass(Millis{2'000});
    CHECK(bench.taken() == "two\n");
    CHECK(bench.sink.lost == 0);
  }
}

TEST_CASE("tailer: read again from what is committed") {
  Bench bench;
  bench.write("a.log", "one\n");
  bench.turn();
  bench.sink.commit(*bench.tailer);
  bench.write("a.log", "two\n");
  CHECK(bench.taken() == "one\ntwo\n");
  for (auto& [key, text] : bench.sink.texts) text.to = text.committed;
  bench.tailer->rewind();
  CHECK(bench.taken() == "two\n");
}

TEST_CASE("tailer: positions that come late take over the files they name") {
  Bench bench;
  bench.write("a.log", "one\n");
  bench.turn();
  bench.sink.commit(*bench.tailer);
  const auto positions = bench.tailer->positions();
  bench.restart(false);
  bench.sink.texts.clear();
  bench.write("a.log", "two\n");
  bench.taken();  // reads the whole text under another key
  bench.sink.texts.clear();
  bench.sink.texts[positions[0].file.key].to = positions[0].offset;
  CHECK(bench.tailer->resume(positions).size() == 1);
  CHECK(bench.taken() == "two\n");
}

TEST_CASE("tailer: a position of a file that is long gone costs nothing") {
  Bench bench;
  bench.write("a.log", "one\n");
  CHECK(bench.taken() == "one\n");
  bench.sink.commit(*bench.tailer);
  auto positions = bench.tailer->positions();
  REQUIRE(positions.size() == 1);
  // Positions from an aggregator that lost releases in a crash: one under a name that another file
  // has now, one in a folder that is gone.
  for (const auto& [key, path] : {std::pair{7U, bench.path("a.log")},
                                  std::pair{8U, bench.folder.path() / "logs/gone/b.log"}}) {
    Position stale = positions[0];
    stale.file = {key, 1, key, 0, 0};
    stale.path = path.string();
    stale.offset = 5'000;
    positions.push_back(stale);
    bench.sink.texts[key].to = bench.sink.texts[key].committed = stale.offset;
  }
  bench.tailer.reset();
  bench.sink.forget_uncommitted();
  bench.start(positions);
  bench.write("a.log", "two\n");
  CHECK(bench.taken() == "two\n");
  bench.pass(Millis{30'000});
  CHECK(bench.sink.lost == 0);
}

TEST_CASE("tailer: a copy that is shorter than what turns out to be counted is not read again") {
  for (const bool renamed : {false, true}) {
    CAPTURE(renamed);
    Bench bench;
    std::string all;
    for (int i = 0; i < 300; ++i)
      all += "a line of some length, number " + std::to_string(i) + "\n";
    bench.write("a.log", all);
    bench.pass(Millis{1'000});
    fs::copy_file(bench.path("a.log"), bench.path("a.log.1"));
    bench.write("a.log", "a line that the copy has not\n");
    bench.pass(Millis{1'000});
    bench.sink.commit(*bench.tailer);
    const auto counted = bench.tailer->positions();
    REQUIRE(counted.size() == 1);
    fs::resize_file(bench.path("a.log"), 0);
    bench.write("a.log", "another text\n");

    // A restarted tailer knows less than the aggregator until the aggregator answers.
    auto cached = counted;
    cached[0].offset = cached[0].known = 9'000;  // there is no mark behind this offset
    bench.tailer.reset();
    bench.sink.forget_uncommitted();
    auto& text = bench.sink.texts[counted[0].file.key];
    text.to = cached[0].offset;
    bench.start(cached);
    bench.pass(Millis{3'000});
    CHECK(text.to == all.size());
    const std::size_t given = bench.sink.text_of_all().size();
    text.to = counted[0].offset;
    bench.tailer->resume(counted);
    if (renamed) fs::rename(bench.path("a.log.1"), bench.path("a.log.2"));
    bench.pass(Millis{8'000});
    fs::rename(bench.path(renamed ? "a.log.2" : "a.log.1"), bench.path("a.log.3"));
    bench.pass(Millis{8'000});
    CHECK(bench.sink.text_of_all().substr(given).find("some length") == std::string::npos);
    CHECK(bench.sink.text_of_all().ends_with("another text\n"));
    CHECK(bench.sink.lost == 0);
  }
}

TEST_CASE("tailer: lines between copying and truncating are read, and the copy has less") {
  for (const int lines_before : {3, 30, 300})
    for (const bool seen : {true, false})
      for (const bool killed : {false, true}) {
        // Positions identify a text by its beginning only.
        if (killed && lines_before < 300) continue;
        CAPTURE(lines_before);
        CAPTURE(seen);
        CAPTURE(killed);
        Bench bench;
        const auto line = [](const char* what, int i) {
          return std::string(what) + " line of some length, number " + std::to_string(i) + "\n";
        };
        std::string all;
        const auto write = [&](const char* what, int count) {
          for (int i = 0; i < count; ++i) {
            bench.write("a.log", line(what, i));
            all += line(what, i);
          }
        };
        write("early", lines_before);
        bench.pass(Millis{1'000});
        fs::copy_file(bench.path("a.log"), bench.path("a.log.1"));
        const std::string before = all;
        write("between", 5);
        if (seen) bench.pass(Millis{1'000});
        if (killed) {
          bench.sink.commit(*bench.tailer);
          bench.restart(true);
        }
        fs::resize_file(bench.path("a.log"), 0);
        if (!seen) all = before;
        write("late", 2);
        bench.pass(Millis{8'000});
        CHECK(bench.sink.text_of_all() == all);
        fs::rename(bench.path("a.log.1"), bench.path("a.log.2"));
        bench.pass(Millis{8'000});
        CHECK(bench.sink.text_of_all() == all);
        bench.sink.commit(*bench.tailer);
        bench.restart(true);
        bench.pass(Millis{8'000});
        CHECK(bench.sink.text_of_all() == all);
        write("another", 2);
        bench.pass(Millis{1'000});
        fs::rename(bench.path("a.log.2"), bench.path("a.log.3"));
        fs::copy_file(bench.path("a.log"), bench.path("a.log.1"));
        fs::resize_file(bench.path("a.log"), 0);
        write("last", 2);
        bench.pass(Millis{8'000});
        CHECK(bench.sink.text_of_all() == all);
        CHECK(bench.sink.lost == 0);
      }
}

}  // namespace
}  // namespace l4::tail
