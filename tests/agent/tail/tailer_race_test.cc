// A writer that rotates as fast as it can, beside a tailer that is killed again and again: every
// line is counted once. Only lines written between copying and truncating could be lost, and this
// writer does not write then.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <thread>

#include "agent/tail/tailer.h"
#include "tests/temp_folder.h"

namespace l4::tail {
namespace {

namespace fs = std::filesystem;

class Counting : public Sink {
 public:
  void log_begins(const LogBegin&) override {}
  void part(const TextPosition&, std::uint64_t) override {}
  void bytes(const TextPosition& place, std::string_view bytes) override {
    Text& text = texts[place.file.key];
    CHECK(text.committed + text.open.size() == place.offset);
    text.open += bytes;
  }
  void missing(const TextPosition& place, std::uint64_t to, Missing) override {
    lost += to - place.offset;
    Text& text = texts[place.file.key];
    text.committed = to;
    text.open.clear();
  }
  void quiet(LogId) override {}
  void log_ends(LogId) override {}
  void forgotten(const wire::FileId&) override {}
  void warning(const wire::Warning& warning) override {
    if (warning.kind == "truncated" || warning.kind == "polling") return;
    last_warning = warning.kind + " " + warning.file + " " + warning.reason;
  }

  /// Whole lines are counted, as an aggregator commits what whole lines cover.
  void commit(Tailer& tailer) {
    for (auto& [key, text] : texts) {
      const std::size_t end = text.open.rfind('\n') + 1;
      if (end == 0) continue;
      for (std::size_t at = 0; at < end;) {
        const std::size_t next = text.open.find('\n', at);
        const std::string line = text.open.substr(at, next - at);
        if (++lines[line] > 1) ++twice[{keys[line], key}];
        keys[line] = key;
        at = next + 1;
      }
      text.open.erase(0, end);
      text.committed += end;
      tailer.commit(key, text.committed, 0);
    }
  }
  void crash() {
    for (auto& [key, text] : texts) text.open.clear();
  }

  struct Text {
    std::uint64_t committed = 0;
    std::string open;
  };
  std::map<std::uint64_t, Text> texts;
  std::map<std::string, int> lines;
  std::map<std::string, std::uint64_t> keys;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> twice;  // lines by first and next key
  std::uint64_t lost = 0;
  std::string last_warning;
};

class Writer {
 public:
  Writer(fs::path folder, int lines) : folder_(std::move(folder)), lines_(lines) {}

  void run() {
    std::mt19937 random{7};
    std::ofstream out;
    for (int line = 0; line < lines_; ++line) {
      const std::string name = "rank" + std::to_string(line % 4) + ".log";
      out.close();
      out.open(folder_ / name, std::ios::app);
      for (int i = 0; i < 20; ++i) out << "line " << line << " part " << i << " of a log\n";
      out.close();
      if (random() % every_ == 0) rotate(name, random() % 2 == 0);
      if (line % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

 private:
  void rotate(const std::string& name, bool copy) {
    for (int n = 400; n >= 1; --n) {
      const fs::path from = folder_ / (name + "." + std::to_string(n));
      if (fs::exists(from)) fs::rename(from, folder_ / (name + "." + std::to_string(n + 1)));
    }
    if (!copy) return fs::rename(folder_ / name, folder_ / (name + ".1"));
    fs::copy_file(folder_ / name, folder_ / (name + ".1"));
    fs::resize_file(folder_ / name, 0);
  }

  fs::path folder_;
  int lines_;
  const unsigned every_ = std::getenv("L4_TAIL_RACE_EVERY") == nullptr
                              ? 25
                              : static_cast<unsigned>(std::atoi(std::getenv("L4_TAIL_RACE_EVERY")));
};

TEST_CASE("tailer race: each line is counted once beside a writer that rotates, through kills") {
  const char* asked = std::getenv("L4_TAIL_RACE_LINES");
  const int lines = asked == nullptr ? 3'000 : std::atoi(asked);
  test::TempFolder folder;
  Options options;
  options.sources = {folder.path()};
  options.bytes_per_file = 4096;
  options.descriptors_max = 16;
  Counting sink;
  std::optional<Tailer> tailer;
  Writer writer{folder.path(), lines};
  std::atomic<bool> done = false;
  std::jthread thread([&] {
    writer.run();
    done = true;
  });
  std::mt19937 random{11};
  const auto now = [begin = std::chrono::steady_clock::now()] {
    return Now{
        std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - begin) + Millis{1},
        std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now())};
  };
  std::vector<Position> positions;
  std::size_t kills = 0;
  for (int quiet = 0; quiet < 60;) {
    if (!tailer) {
      options.seed = random();
      tailer.emplace(std::move(
          *Tailer::make(options, real_file_system(), std::move(*make_inotify_watcher()))));
      tailer->resume(positions);
    }
    const std::uint64_t before = tailer->counters().bytes;
    const bool more = tailer->turn(sink, now());
    if (random() % 3 == 0) sink.commit(*tailer);
    quiet = done && !more && tailer->counters().bytes == before ? quiet + 1 : 0;
    if (!done && random() % 40 == 0) {
      positions.clear();
      for (Position& position : tailer->positions())
        if (position.offset > 0) positions.push_back(std::move(position));
      tailer.reset();
      sink.crash();
      ++kills;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{more ? 0 : 50 * (quiet > 0)});
  }
  sink.commit(*tailer);
  CHECK(kills > 0);
  CHECK(sink.lost == 0);
  CHECK(sink.lines.size() == static_cast<std::size_t>(lines) * 20);
  for (const auto& [keys, lines_twice] : sink.twice)
    FAIL_CHECK(lines_twice << " lines of " << keys.first << " came again from " << keys.second);
  INFO(sink.last_warning);
  CHECK(sink.last_warning.empty());
}

}  // namespace
}  // namespace l4::tail
