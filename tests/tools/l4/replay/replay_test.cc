#include "tools/l4/replay/replay.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace l4::replay {
namespace {

namespace fs = std::filesystem;

std::string written_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TimeMs at(const char* text) {
  return parse_time(text).value();
}

struct Play {
  test::TempFolder from, to;
  Options options;
  std::optional<Replay> replay;
  std::string told;  ///< lines in the order in which they were told of

  Result<void> load(double speed = 1) {
    options.from = from.path();
    options.to = to.path();
    options.speed = speed;
    auto loaded = Replay::load(options);
    if (!loaded) return std::unexpected(loaded.error());
    replay = std::move(*loaded);
    return {};
  }
  std::optional<TimeMs> step(TimeMs now) {
    const auto next = replay->step(now, [&](const Written& written) { told += written.lines; });
    REQUIRE(next);
    return *next;
  }
  /// Steps at each time that step() names; these times.
  std::vector<TimeMs> run(TimeMs now) {
    REQUIRE(replay->begin(now));
    std::vector<TimeMs> times;
    for (std::optional<TimeMs> next = now; next; next = step(*next)) times.push_back(*next);
    return times;
  }
  std::string written(const std::string& name) const { return written_in(to.path() / name); }
  std::string said() const {
    std::string all;
    for (const std::string& sentence : replay->unmoved()) all += sentence + "\n";
    return all;
  }
};

TEST_CASE("replay: arrivals give the timing, and a cut line is completed later") {
  Play play;
  play.from.file("node-1/a.log",
                 "2026-11-20 15:54:09.100 one\n2026-11-20 15:54:10.200 two\n"
                 "2026-11-20 15:54:12 three");
  play.from.file("node-2/b.log", "starts\n");
  const test::TempFolder beside;
  play.options.arrivals = beside.file("a.csv",
                                      "1795190049.325,node-1/a.log,28\n"
                                      "1795190050.325,node-2/b.log,3\n"
                                      "1795190050.325,node-1/a.log,46\n"
                                      "# at 1795190051.325 it breaks\n"
                                      "1795190052.325,node-2/b.log,7\n"
                                      "1795190052.325,node-1/a.log,81\n");
  REQUIRE(play.load());
  CHECK(play.replay->nodes() == std::vector<std::string>{"node-1", "node-2"});
  CHECK(play.replay->length() == Millis{3000});
  CHECK(play.said().empty());
  const TimeMs now = at("2027-03-05T10:00:00.500Z");
  REQUIRE(play.replay->begin(now));
  CHECK(play.replay->shift() % Millis{1000} == Millis{0});
  const TimeMs first = play.step(now).value();
  CHECK(first == at("2027-03-05T10:00:01.325Z"));
  CHECK(play.written("node-1/a.log").empty());
  CHECK(play.step(first) == first + Millis{1000});
  CHECK(play.written("node-1/a.log") == "2027-03-05 10:00:01.100 one\n");
  CHECK(play.told == "2027-03-05 10:00:01.100 one\n");
  CHECK(play.step(first + Millis{1000}) == first + Millis{3000});
  CHECK(play.written("node-1/a.log") == "2027-03-05 10:00:01.100 one\n2027-03-05 10:00:0");
  CHECK(play.written("node-2/b.log") == "sta");
  CHECK(play.replay->lines() == 1);
  CHECK_FALSE(play.step(first + Millis{3000}));
  CHECK(play.written("node-1/a.log") ==
        "2027-03-05 10:00:01.100 one\n2027-03-05 10:00:02.200 two\n2027-03-05 10:00:04 three");
  CHECK(play.written("node-2/b.log") == "starts\n");
  CHECK(play.replay->lines() == 4);
  REQUIRE(play.replay->facts().size() == 1);
  CHECK(play.replay->facts()[0].at == first + Millis{2000});
  CHECK(play.replay->facts()[0].text == "it breaks");
}

TEST_CASE("replay: a row of the arrivals that does not fit the logs") {
  Play play;
  play.from.file("node-1/a.log", "one\n");
  play.from.file("node-1/b.log", "one\n");
  const test::TempFolder beside;
  const auto error_of = [&](const char* rows) {
    play.options.arrivals = beside.file("a.csv", rows);
    const auto loaded = play.load();
    REQUIRE_FALSE(loaded);
    return loaded.error().text();
  };
  const std::string path = (beside.path() / "a.csv").string();
  CHECK(error_of("1,node-1/a.log,4\n2,node-1/c.log,4\n") ==
        path + ":2: node-1/c.log is no log of the recording; paths are relative to its folder");
  CHECK(error_of("1,node-1/a.log,5\n") == path + ":1: node-1/a.log has only 4 bytes, not 5");
  CHECK(error_of("1,node-1/a.log,4\n") ==
        path + ": has no row for node-1/b.log, a log of the recording that is not empty");
}

TEST_CASE("replay: lines without a time go with their neighbours") {
  Play play;
  play.from.file("node-1/a.log",
                 "hello\n2026-11-20T10:00:00Z one\n  more\n2026-11-20T10:00:05Z two\nend\n");
  REQUIRE(play.load());
  const TimeMs now = at("2026-12-24T23:59:57Z");
  CHECK(play.run(now).size() == 2);
  CHECK(play.written("node-1/a.log") ==
        "hello\n2026-12-24T23:59:57Z one\n  more\n2026-12-25T00:00:02Z two\nend\n");
  CHECK(play.replay->lines() == 5);
}

TEST_CASE("replay: no line prints a time to come, at any speed") {
  for (const double speed : {0.25, 1.0, 4.0}) {
    CAPTURE(speed);
    Play play;
    play.from.file("node-1/a.log", "2026-11-20T10:00:00Z one\n2026-11-20T10:00:40Z two\n");
    REQUIRE(play.load(speed));
    CHECK(play.replay->length() == Millis{static_cast<int>(40'000 / speed)});
    const TimeMs now = at("2027-01-01T00:00:00.250Z");
    const auto times = play.run(now);
    const TimeMs last = times.back();
    CHECK(times.size() == 3);
    CHECK(times[1] - now < Millis{1000});
    const auto one = parse_time(play.told.substr(0, 20)).value();
    const auto two = parse_time(play.told.substr(25, 20)).value();
    CHECK(two - one == Millis{40'000});
    CHECK(one <= times[1]);
    CHECK(two <= last);
    CHECK((one == times[1] || two == last));
  }
  Play play;
  play.from.file("a.log");
  for (const double speed : {0.0, -1.0, 1e-9, 1e12}) CHECK_FALSE(play.load(speed));
}

TEST_CASE("replay: a step that comes late writes all that is due") {
  Play play;
  play.from.file("node-1/a.log", "2026-11-20T10:00:00Z one\n2026-11-20T10:00:40Z two\n");
  REQUIRE(play.load());
  const TimeMs now = at("2027-01-01T00:00:00Z");
  REQUIRE(play.replay->begin(now));
  CHECK_FALSE(play.step(now + std::chrono::hours{1}));
  CHECK(play.replay->lines() == 2);
}

TEST_CASE("replay: an empty log, and logs that are there already") {
  Play play;
  play.from.file("node-1/a.log", "2026-11-20T10:00:00Z one\n");
  play.from.file("node-1/0/empty.log", "");
  REQUIRE(play.load());
  REQUIRE(play.replay->begin(at("2027-01-01T00:00:00Z")));
  CHECK(fs::is_empty(play.to.path() / "node-1/0/empty.log"));
  CHECK_FALSE(fs::exists(play.to.path() / "node-1/a.log"));
  const auto again = play.replay->begin(at("2027-01-01T00:00:00Z"));
  REQUIRE_FALSE(again);
  CHECK(again.error().text() == (play.to.path() / "node-1/0/empty.log").string() +
                                    ": exists already; a replay writes into a new folder");
}

TEST_CASE("replay: the notes say what was shortened and what is not moved") {
  Play play;
  play.from.file("node-1/a.log", "2024-11-20T10:00:00Z one\n2026-11-20T10:00:00Z two\n");
  REQUIRE(play.load());
  CHECK(play.said() ==
        "a silence of 730 d 0 h before 2026-11-20T10:00:00.000Z (as recorded) is shortened to "
        "10.0 s\n");
  play.run(at("2027-01-01T00:00:00Z"));
  CHECK(play.told == "2025-01-01T00:00:10Z one\n2027-01-01T00:00:10Z two\n");
}

TEST_CASE("replay: logs that cannot be written") {
  Play play;
  play.from.file("node-1/a.log", "2026-11-20T10:00:00Z one\n");
  REQUIRE(play.load());
  play.to.file("node-1");
  const auto began = play.replay->begin(at("2027-01-01T00:00:00Z"));
  REQUIRE_FALSE(began);
  CHECK(began.error().where.find("node-1") != std::string::npos);
}

}  // namespace
}  // namespace l4::replay
