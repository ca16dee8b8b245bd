#include "agent/lines/read_lines.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "agent/pipeline/redaction.h"
#include "agent/pipeline/secrets.h"
#include "tests/temp_folder.h"

namespace l4::lines {
namespace {

using Kind = wire::LinesGapKind;

std::string line_of(int step) {
  return fmt::format("2026-11-20 {:02}:{:02}:{:02},000 INFO step {} of 90000 took 12.5 ms",
                     step / 3600, step / 60 % 60, step % 60, step);
}

TimeMs time_of(int step) {
  return *parse_time("2026-11-20T00:00:00Z") + std::chrono::seconds(step);
}

std::string steps(int from, int to) {
  std::string text;
  for (int step = from; step < to; ++step) text += line_of(step) + "\n";
  return text;
}

/// A log in a folder of its own, and a question about it.
struct World {
  test::TempFolder folder;
  Task task;
  Millis now{0}, tick{0};
  std::vector<wire::LinesAnswer> parts;

  World() {
    task.question.files.emplace_back().path = "rank0.log";
    task.question.lines_max = 1000;
    task.question.bytes_max = 1 << 20;
    task.question.timeout_ms = 10'000;
    task.logs.push_back({0, folder.path().string(), "rank0.log", {}});
  }

  void pack(const std::string& name, const std::string& text, std::size_t cut = 0) const {
    const std::string path = (folder.path() / name).string();
    gzFile out = ::gzopen(path.c_str(), "wb");
    ::gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    ::gzclose(out);
    if (cut > 0) std::filesystem::resize_file(path, std::filesystem::file_size(path) - cut);
  }

  std::vector<std::string> read(bool hits_only = true) {
    parts = read_lines(
        task, tail::real_file_system(), [this] { return now += tick; }, [] { return false; });
    std::vector<std::string> texts;
    for (const wire::LinesAnswer& part : parts)
      for (const wire::RawLine& line : part.lines)
        if (line.hit || !hits_only) texts.push_back(line.text);
    return texts;
  }

  std::vector<Kind> gaps() const {
    std::vector<Kind> kinds;
    for (const wire::LinesGap& gap : parts.back().gaps) kinds.push_back(gap.kind);
    return kinds;
  }
  const wire::RawLine& first() const { return parts.front().lines.front(); }
};

std::vector<std::string> lines_from(int from, int to) {
  std::vector<std::string> lines;
  for (int step = from; step < to; ++step) lines.push_back(line_of(step));
  return lines;
}

TEST_CASE("raw lines: the end of a log, over its files, with numbers and offsets") {
  World world;
  world.folder.file("rank0.log", steps(30'000, 30'010));
  world.folder.file("rank0.log.1", steps(10'000, 30'000));
  world.pack("rank0.log.2.gz", steps(0, 10'000));
  world.task.question.lines_max = 25;
  CHECK(world.read() == lines_from(29'985, 30'010));
  CHECK(world.gaps() == std::vector{Kind::limit_lines});
  CHECK(world.first().number == 19'986);
  CHECK(world.first().offset == steps(10'000, 29'985).size());
  CHECK(world.parts.front().files.size() == 2);
  world.folder.file("rank0.log", "a\r\n\r\nb without end");
  std::filesystem::remove(world.folder.path() / "rank0.log.1");
  std::filesystem::remove(world.folder.path() / "rank0.log.2.gz");
  CHECK(world.read() == std::vector<std::string>{"a", "", "b without end"});
  CHECK(world.gaps().empty());
}

TEST_CASE("raw lines: a line of several writers is found by the text of each, and shown once") {
  World world;
  const std::string line =
      "2026-11-20 00:00:05,000 INFO all workers are ready[rank3]: RuntimeError: CUDA error: no "
      "memory";
  world.folder.file("rank0.log", line_of(4) + "\n" + line + "\n\n" + line_of(6) + "\n");
  for (const std::string text :
       {"RuntimeError: CUDA error: no memory", "INFO all workers are ready"}) {
    CAPTURE(text);
    world.task.texts = world.task.question.texts = {text};
    const auto lines = world.read();
    CHECK(std::ranges::count(lines, line) == 1);
  }
}

TEST_CASE("raw lines: lines of UTF-16 are readable, and secrets in them are blotted out") {
  World world;
  std::string wide;
  for (const char c : std::string("token=hf_abcdefghijklmnopqrstuvwxyz0123 is used\r\n"))
    wide.append({c, '\0'});
  world.folder.file("rank0.log", "plain\n" + wide);
  const auto secrets = pipeline::known_secrets();
  world.task.secrets = secrets.get();
  const auto lines = world.read();
  REQUIRE(lines.size() >= 2);
  CHECK(lines[1].ends_with("is used"));
  CHECK_FALSE(lines[1].contains("hf_abcdef"));
}

TEST_CASE("raw lines: around a time, in a large file, a packed one, and beside all of them") {
  World world;
  world.folder.file("rank0.log", steps(20'000, 80'000));  // several MB
  world.pack("rank0.log.1.gz", steps(0, 20'000));
  world.task.question.context = 2;
  for (const int step : {20'000, 20'003, 44'444, 70'001, 79'999}) {
    CAPTURE(step);
    world.task.question.around = time_of(step) - Millis{1};
    CHECK(world.read() == std::vector{line_of(step)});
    CHECK(world.gaps().empty());
    CHECK(world.parts.back().bytes_read < (4u << 20));
  }
  world.task.question.around = time_of(40'000);
  CHECK(world.read(false) == lines_from(39'998, 40'003));
  world.task.question.around = time_of(7'777);
  CHECK(world.read(false) == lines_from(7'775, 7'780));
  CHECK(world.parts.front().lines[2].number == 7'778);
  world.task.question.around = time_of(-500);
  CHECK(world.read() == std::vector{line_of(0)});
  CHECK(world.gaps() == std::vector{Kind::older});
  world.task.question.around = time_of(86'000);
  CHECK(world.read() == std::vector{line_of(79'999)});
  CHECK(world.gaps().empty());
  std::filesystem::remove(world.folder.path() / "rank0.log.1.gz");
  world.folder.file("rank0.log", "no time\nhere\n");
  CHECK(world.read() == std::vector<std::string>{"no time", "here"});
  CHECK(world.gaps() == std::vector{Kind::no_time});
}

TEST_CASE("raw lines: a template, the newest first, around a time, and what is gone of it") {
  World world;
  const auto slow = [](int n) {
    return fmt::format("{} WARN disk {} is slow", "2026-11-20 " + std::string("09:00:00,000"), n);
  };
  std::string text;
  for (int part = 0; part < 10; ++part)
    text += steps(part * 3000, part * 3000 + 3000) + slow(part) + "\n";
  world.folder.file("rank0.log", text);
  world.task.texts = {"WARN disk <*> is slow"};
  world.task.question.texts = world.task.texts;
  world.task.question.files[0].counted = 10;
  CHECK(world.read().size() == 10);
  CHECK(world.gaps().empty());
  world.task.question.lines_max = 3;
  CHECK(world.read() == std::vector{slow(7), slow(8), slow(9)});
  CHECK(world.gaps() == std::vector{Kind::limit_lines});
  world.task.question.lines_max = 50;
  world.task.question.files[0].counted = 12;
  CHECK(world.read().size() == 10);
  CHECK(world.gaps() == std::vector{Kind::fewer});
  world.task.question.context = 1;
  CHECK(world.read(false).size() == 29);  // the last hit has no line behind it
  world.task.texts = {"WARN disk <*> is fast"};
  CHECK(world.read().empty());
}

TEST_CASE("raw lines: a rank among others in one file") {
  World world;
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("[rank{}]: line {} says\n", i % 3, i);
  world.folder.file("rank0.log", text);
  world.task.question.files[0].everyone = false;
  world.task.question.files[0].speakers = {{Rank{1}, std::nullopt, "node-a"}};
  const auto found = world.read();
  CHECK(found.size() == 100);
  CHECK(found.front() == "[rank1]: line 1 says");
  CHECK(world.first().rank == Rank{1});
}

TEST_CASE("raw lines: secrets stay, in the message and in the line") {
  World world;
  std::size_t where = 0;
  const auto user = pipeline::Redaction::make({"^user [a-z]+", "badge-[0-9]+"}, where);
  const auto secrets = pipeline::known_secrets();
  REQUIRE(user);
  world.task.redaction = user->get();
  world.task.secrets = secrets.get();
  world.folder.file("rank0.log",
                    "[rank0]: user alice came\n[rank0]: badge-12 hf_abcdefghijklmnopqrstuvwx\n"
                    "{\"message\": \"user \\u0062ob left\"}\n" +
                        std::string(17'000, 'x') + " badge-3 " + std::string(90'000, 'y') + "\n");
  const auto found = world.read();
  REQUIRE(found.size() == 4);
  CHECK(found[0] == "[rank0]: [redacted] came");
  CHECK(found[1] == "[rank0]: [redacted] [redacted]");
  CHECK(found[2] == "[redacted]");
  CHECK(found[3].size() == wire::kLineTextBytesMax);
  CHECK(world.parts.back().redacted == 4);
}

TEST_CASE("raw lines: bounds are kept and told") {
  World world;
  world.folder.file("rank0.log", steps(0, 60'000));
  world.task.bounds.text_bytes_max = 10'000;
  std::size_t bytes = 0;
  for (const std::string& text : world.read()) bytes += text.size();
  CHECK(bytes <= 10'100);
  CHECK(world.gaps() == std::vector{Kind::limit_bytes});
  world.task.bounds = {};
  world.task.bounds.read_bytes_max = 1 << 20;
  world.task.texts = {"nothing like it"};
  world.task.question.texts = world.task.texts;
  CHECK(world.read().empty());
  CHECK(world.gaps() == std::vector{Kind::limit_read});
  CHECK(world.parts.back().bytes_read < (2u << 20));
  world.task.bounds = {};
  world.tick = Millis{4'000};
  CHECK(world.read().empty());
  CHECK(world.gaps() == std::vector{Kind::limit_time});
}

TEST_CASE("raw lines: files that are gone, broken, excluded, or lead elsewhere") {
  World world;
  CHECK(world.read().empty());
  CHECK(world.gaps() == std::vector{Kind::none_left});
  world.pack("rank0.log.1.gz", steps(0, 5'000), 2'000);
  CHECK(!world.read().empty());
  CHECK(std::ranges::count(world.gaps(), Kind::unreadable) == 1);
  world.folder.file("secret/shadow", "root:x\n");
  std::filesystem::create_symlink("secret/shadow", world.folder.path() / "rank0.log");
  world.folder.file("rank0.log.2", "excluded\n");
  world.task.may_read = [](const AskedLog&, const std::string& name) {
    return name != "rank0.log.2";
  };
  for (const std::string& text : world.read()) {
    CHECK(text != "root:x");
    CHECK(text != "excluded");
  }
}

TEST_CASE("raw lines: parts fit a message") {
  World world;
  world.folder.file("rank0.log", steps(0, 9'000));
  world.task.question.lines_max = 9'000;
  CHECK(world.read() == lines_from(0, 9'000));
  CHECK(world.parts.size() > 2);
  for (const wire::LinesAnswer& part : world.parts) CHECK(part.lines.size() < 6'000);
}

}  // namespace
}  // namespace l4::lines
