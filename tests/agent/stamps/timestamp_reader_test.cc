#include "agent/stamps/timestamp_reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "agent/stamps/far_times.h"
#include "tests/agent/stamps/stamp_rows.h"

namespace l4::stamps {
namespace {

const Clock kClock{.year_hint = parse_time("2026-12-01T00:00:00Z")};

/// Reads the lines one after the other; the times of the last, "none" without one.
std::string last_time(TimestampReader reader, const std::vector<std::string>& lines) {
  std::string time;
  for (const std::string& line : lines) {
    const auto stamp = reader.read(line);
    time = stamp && stamp->time ? to_rfc3339(*stamp->time) : "none";
  }
  return time;
}

TEST_CASE("timestamp: format, time and rest of a line") {
  for (const StampRow& row : kStampRows) {
    CAPTURE(std::string{row.line});
    TimestampReader reader{kClock};
    const auto stamp = reader.read(row.line);
    REQUIRE(stamp);
    REQUIRE(stamp->time);
    CHECK(to_rfc3339(*stamp->time) == row.time);
    CHECK(reader.format() == row.format);
    std::string rest{row.line};
    rest.erase(stamp->cut_from, stamp->cut_to - stamp->cut_from);
    CHECK(rest.substr(stamp->cut_to > 0 && rest[0] == ' ' ? 1 : 0) == row.rest);
  }
}

TEST_CASE("timestamp: a quoted line of a system's log, soon behind the time before it") {
  const std::string before = "2026-03-02T15:59:00Z text";
  for (const char* line :
       {"Xid errors on instance: n7, Error: Mar  2 15:59:56 n7 kernel: [680.64] NVRM: Xid: 63",
        "journal of n7 says: Mar 2 15:59:56 n7 systemd[1]: Stopping user manager",
        "[watchdog] (Mar  2 15:59:56 gpu-7 kernel: Out of memory: Killed process 7)"}) {
    CAPTURE(std::string{line});
    CHECK(last_time(TimestampReader{kClock}, {before, line}) == "2026-03-02T15:59:56.000Z");
    CHECK(last_time(TimestampReader{kClock}, {line}) == "none");
    CHECK(last_time(TimestampReader{kClock}, {"2026-03-02T16:30:00Z text", line}) == "none");
  }
  for (const char* line : {"released on Mar  2 15:59:56 by nobody",
                           "a file xMar  2 15:59:56 n7 kernel: text", "at Mar  2 15:59:56 n7"})
    CHECK(last_time(TimestampReader{kClock}, {before, line}) == "none");
}

TEST_CASE("timestamp: lines without one") {
  for (const char* line : {"iteration 10",
                           "",
                           "   ",
                           "12: text",
                           "[rank0] text",
                           "1234567",
                           "Ignored 2024-01-01",
                           "2024-13-01 10:00:00 text",
                           "2024-02-30 10:00:00 text",
                           "1:30:01 text",
                           "WARNING text",
                           "March 2 15:59:56 text",
                           "E99 text",
                           "I2 text",
                           "[1759897476] text",
                           "{'loss': 1.0}",
                           "[INFO] 2 text",
                           "2024-01-01 text",
                           "99/99/2024 10:00:00",
                           "Dataset v2 2019-01-01 00:00:00",
                           "rank 4 saw 2019-01-01 00:00:00",
                           "  time      : 2024-01-01_10:00:00",
                           "[INFO] the data of 2019-01-01 00:00:00",
                           "1795190061 parameters",
                           "261120 155421 parameters",
                           "300000 999999 148 INFO text",
                           "LAYERS 1795190061 of them",
                           "EXPECTED: [PID: 4] text",
                           "^C",
                           "1795190061",
                           "1.7e9 tokens",
                           "1.5 text",
                           "1.795e+30 text",
                           "{'loss': 1.0, 'time': 35.5, 'ts': 12}",
                           "{'text': 'on 2019-01-01 00:00:00'}",
                           ":::MLLOG {\"namespace\": \"\", \"time_ms\": 0, \"key\": \"seed\"}",
                           "the job that failed at 2019-01-01 00:00:00 was another",
                           "  Started at: 2019-01-01 00:00:00",
                           "files from 2019-01-01 00:00:00 to 2020-01-01 00:00:00",
                           "eta: 1:02:03, lr: 1e-5",
                           "epoch 12 took 00:12:33 at 3 it/s"}) {
    CAPTURE(std::string{line});
    TimestampReader reader{Clock{}};
    CHECK_FALSE(reader.read(line));
    CHECK(reader.format() == "none");
  }
}

TEST_CASE("timestamp: zone, year, and times that cannot be known") {
  TimestampReader east{{.zone = std::chrono::hours{8}}};
  CHECK(to_rfc3339(*east.read("2024-01-01 10:00:00 x")->time) == "2024-01-01T02:00:00.000Z");
  CHECK(to_rfc3339(*east.read("2024-01-01T10:00:00Z x")->time) == "2024-01-01T10:00:00.000Z");

  TimestampReader blind{Clock{}};
  const auto unknown = blind.read("W0613 02:25:19.600 f.cpp:1] x");
  REQUIRE(unknown);
  CHECK_FALSE(unknown->time);
  CHECK(unknown->level == Level::warning);
  // A full stamp of the same source gives the year, also across its end.
  blind.read("2023-12-31T23:59:00Z x");
  CHECK(to_rfc3339(*blind.read("W0101 00:00:19.600 f.cpp:1] x")->time) ==
        "2024-01-01T00:00:19.600Z");
  TimestampReader hinted{{.year_hint = parse_time("2026-01-05T00:00:00Z")}};
  CHECK(to_rfc3339(*hinted.read("W1231 00:00:19.600 f.cpp:1] x")->time) ==
        "2025-12-31T00:00:19.600Z");
}

TEST_CASE("timestamp: the year is that of the neighbours, also on the 29th of February") {
  // glog beside full stamps: half a year before and behind, and over the end of a year.
  for (const auto& [full, glog, time] : std::vector<std::array<std::string, 3>>{
           {"2025-03-04 09:12:33 x", "I0304 09:12:01.4 7 a.py:1] x", "2025-03-04T09:12:01.400Z"},
           {"2025-03-04 09:12:33 x", "I0901 09:12:01.4 7 a.py:1] x", "2025-09-01T09:12:01.400Z"},
           {"2025-03-04 09:12:33 x", "I1130 09:12:01.4 7 a.py:1] x", "2024-11-30T09:12:01.400Z"},
           {"2024-12-31 23:59:59 x", "I0101 00:00:01.4 7 a.py:1] x", "2025-01-01T00:00:01.400Z"},
           {"2024-03-01 00:00:01 x", "I0229 23:59:59.4 7 a.py:1] x", "2024-02-29T23:59:59.400Z"}}) {
    CAPTURE(glog);
    CHECK(last_time(TimestampReader{kClock}, {full, glog}) == time);
    TimestampReader hinted{{.year_hint = parse_time(full.substr(0, 10))}};
    if (glog.substr(1, 2) != "09") CHECK(last_time(hinted, {glog}) == time);
  }
  CHECK(last_time(TimestampReader{kClock}, {"I0229 23:59:59.4 7 a.py:1] x"}) ==
        "2024-02-29T23:59:59.400Z");
}

TEST_CASE("timestamp: a line of the day before is read as one of any day, a wrong hour as none") {
  for (const auto& [line, time] : std::vector<std::array<std::string, 2>>{
           {"2025-03-04 23:59:59,250 x", "2025-03-04T23:59:59.250Z"},
           {"2025-03-04 24:00:00,250 x", "2025-03-05T00:00:00.250Z"},
           {"2025-03-05 00:00:01,250 x", "2025-03-05T00:00:01.250Z"},
           {"2025-03-04 25:00:00,250 x", "none"},
           {"2025-03-04 09:60:00,250 x", "none"},
           {"2025-02-29 09:00:00,250 x", "none"}}) {
    CAPTURE(line);
    CHECK(last_time(TimestampReader{kClock}, {"2025-03-04 09:12:33,100 x", line}) == time);
  }
}

TEST_CASE("three numbers of two digits") {
  int first = -1, second = -1, third = -1;
  REQUIRE(text::read_pairs("15:54:21", ':', first, second, third));
  CHECK(std::array{first, second, third} == std::array{15, 54, 21});
  REQUIRE(text::read_pairs("99-00-07", '-', first, second, third));
  CHECK(std::array{first, second, third} == std::array{99, 0, 7});
  const std::string usual = "15:54:21";
  for (std::size_t at = 0; at < usual.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string other = usual;
      other[at] = static_cast<char>(byte);
      const bool sign = usual[at] == ':';
      CAPTURE(other);
      CHECK(text::read_pairs(other.data(), ':', first, second, third) ==
            (sign ? byte == ':' : byte >= '0' && byte <= '9'));
    }
}

TEST_CASE("timestamp: zero, far and unset times are none, until the log goes on with them") {
  const std::string now = "2025-03-04 09:12:33 x";
  for (const char* odd :
       {"2000-01-01 00:00:12 x", "1970-01-01 00:00:12 x", "2099-01-01 00:00:00,123 x", "1.0e9 x",
        "I0000 00:00:1000000000.123 7 a.cc:1] x", "2025-09-01T00:00:00Z x",
        ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1000000000000, \"key\": 1}"}) {
    CAPTURE(std::string{odd});
    CHECK(last_time(TimestampReader{kClock}, {now, odd}) == "none");
    CHECK(last_time(TimestampReader{kClock}, {now, odd, now}) == "2025-03-04T09:12:33.000Z");
    CHECK(last_time(TimestampReader{{.usual = parse_time("2025-03-01")}}, {odd}) == "none");
  }
  // A year that is missing is not taken from a time that is not believed.
  CHECK(
      last_time(TimestampReader{kClock}, {now, "2000-01-01 00:00:12 x", "I0304 09:12:34 1 a] x"}) ==
      "2025-03-04T09:12:34.000Z");
  // A run that is appended two months later; a clock that stands back an hour.
  const std::string later = "2025-05-04 09:12:33 x";
  CHECK(last_time(TimestampReader{kClock}, {now, later, later}) == "none");
  CHECK(last_time(TimestampReader{kClock}, {now, later, later, later}) ==
        "2025-05-04T09:12:33.000Z");
  CHECK(last_time(TimestampReader{kClock}, {now, "2025-03-04 08:12:33 x"}) ==
        "2025-03-04T08:12:33.000Z");
  TimestampReader every{{.doubts = false}};
  CHECK(last_time(every, {now, "2000-01-01 00:00:12 x"}) == "2000-01-01T00:00:12.000Z");
}

TEST_CASE("timestamp: a zone's name is that of the machine's clock where other stamps show it") {
  const std::string date = "Tue Mar  4 09:12:33 CET 2025";
  CHECK(last_time(TimestampReader{kClock}, {date}) == "2025-03-04T08:12:33.000Z");
  CHECK(last_time(TimestampReader{kClock}, {"2025-03-04 09:12:30 x", date}) ==
        "2025-03-04T09:12:33.000Z");
  CHECK(last_time(TimestampReader{kClock}, {"2025-03-04T08:12:30Z x", date}) ==
        "2025-03-04T08:12:33.000Z");
}

TEST_CASE("timestamp: the day may stand before the month") {
  CHECK(last_time(TimestampReader{kClock}, {"12/11/2026 10:00:00 x"}) ==
        "2026-12-11T10:00:00.000Z");
  CHECK(last_time(TimestampReader{kClock}, {"[20/11/26 15:54:21] INFO x"}) ==
        "2026-11-20T15:54:21.000Z");
  CHECK(last_time(TimestampReader{kClock}, {"31/10/2026 23:59:59 x", "01/11/2026 00:00:01 x"}) ==
        "2026-11-01T00:00:01.000Z");
  CHECK(last_time(TimestampReader{kClock}, {"31/10/2026 23:59:59 x", "12/11/2026 00:00:01 x"}) ==
        "2026-11-12T00:00:01.000Z");
  CHECK(last_time(TimestampReader{kClock}, {"2026-11-05 10:00:00 x", "06/11/2026 00:00:01 x"}) ==
        "2026-11-06T00:00:01.000Z");
  CHECK(last_time(TimestampReader{kClock}, {"10/31/2026 23:59:59 x", "11/01/2026 00:00:01 x"}) ==
        "2026-11-01T00:00:01.000Z");
}

TEST_CASE("timestamp: a doubtful time in a text follows the line before it") {
  const std::string now = "2025-03-04 09:12:33 x";
  for (const auto& [line, time] : std::vector<std::array<std::string, 2>>{
           {"worker 7 failed at 2025-03-04 09:20:01, no reason", "2025-03-04T09:20:01.000Z"},
           {"rank 3 was last seen on 2025-03-04T08:00:00", "none"},
           {"the checkpoint created on 2025-02-04T08:00:00 is loaded", "none"},
           {"the license ends on a day at 2025-03-09 08:00:00", "none"}}) {
    CAPTURE(line);
    CHECK(last_time(TimestampReader{kClock}, {now, line}) == time);
    CHECK(last_time(TimestampReader{kClock}, {line}) == "none");
  }
}

/// Lines of the golden files of stamps (tests/agent/decode/golden/stamp-*.log).
std::vector<std::string> golden_lines() {
  std::vector<std::string> lines;
  for (const auto& entry :
       std::filesystem::directory_iterator(L4_SOURCE_DIR "/tests/agent/decode/golden")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("stamp-") || !name.ends_with(".log")) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (line.size() > 1) lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

/// Lines for the checks of the table's rows: one for each format and first character.
std::vector<std::string> sample_lines() {
  std::vector<std::string> lines;
  for (const StampRow& row : kStampRows) lines.emplace_back(row.line);
  std::set<std::pair<std::string, std::string>> seen;
  for (const std::string& line : golden_lines()) {
    TimestampReader reader{kClock};
    if (!reader.read(line)) continue;
    if (seen.emplace(reader.format(), line.substr(0, 1)).second) lines.push_back(line);
  }
  return lines;
}

TEST_CASE("each row of the table reads a line of a golden file") {
  std::set<std::string, std::less<>> found;
  for (const std::string& line : golden_lines()) {
    TimestampReader reader{kClock};
    if (reader.read(line)) found.emplace(reader.format());
  }
  for (const StampFormat& format : stamp_formats())
    CHECK_MESSAGE(found.contains(format.name), format.name,
                  ": no line of tests/agent/decode/golden/stamp-*.log is read by it");
}

TEST_CASE("rows of the table name every second character that their lines go on with") {
  const auto formats = stamp_formats();
  for (std::string line : sample_lines()) {
    for (std::size_t i = 0; i < formats.size(); ++i)
      for (const char first : formats[i].first)
        for (char second = '\t'; second < '\x7f'; ++second) {
          line[0] = first;
          line[1] = second;
          RawStamp stamp;
          if ((stamp_rows(line) >> i & 1) == 0 && formats[i].scan(line, stamp))
            FAIL(formats[i].name << " takes " << line);
        }
  }
}

TEST_CASE("rows of the table name every sign behind the digits that their lines begin with") {
  const auto formats = stamp_formats();
  const auto try_all = [&](const std::string& line) {
    for (std::size_t i = 0; i < formats.size(); ++i) {
      RawStamp stamp;
      const bool begins = formats[i].first.find(line[0]) != std::string_view::npos;
      if (begins && (stamp_rows(line) >> i & 1) == 0 && formats[i].scan(line, stamp))
        FAIL(formats[i].name << " takes " << line);
    }
  };
  for (const std::string& line : sample_lines()) {
    const std::size_t from = line[0] == '[' || line[0] == '(' ? 1 : 0;
    const std::size_t sign = std::min(line.find_first_not_of("0123456789", from), line.size());
    for (const std::size_t digits : {sign - from, std::size_t{1}, std::size_t{2}, std::size_t{4},
                                     std::size_t{8}, std::size_t{10}, std::size_t{13}}) {
      const std::string behind = sign < line.size() ? line.substr(sign + 1) : "";
      for (char other = '\t'; other < '\x7f'; ++other) {
        const std::string front = line.substr(0, from).append(digits, '1').append(1, other);
        try_all(front + behind);
        try_all(front + line.substr(from));
      }
    }
  }
}

TEST_CASE("a log that mixes two clocks: a leap ahead is doubted for long") {
  const TimeMs begin = *parse_time("2026-05-11T01:00:00Z");
  const Millis ahead = std::chrono::hours{9};
  FarTimes one_clock;
  CHECK(one_clock.believes(begin));
  CHECK(one_clock.believes(begin + ahead));  // nothing fell back before

  FarTimes two_clocks;
  CHECK(two_clocks.believes(begin + ahead));
  for (int i = 0; i < 2 * FirstFall::kFew; ++i) CHECK(two_clocks.believes(begin + i * Millis{100}));
  CHECK_FALSE(two_clocks.believes(begin + ahead));
  CHECK(two_clocks.believes(begin + Millis{1000}));
  for (int i = 1; i < FarTimes::kSureOfClock; ++i)
    CHECK_FALSE(two_clocks.believes(begin + ahead + i * Millis{1000}));
  CHECK(two_clocks.believes(begin + ahead + FarTimes::kSureOfClock * Millis{1000}));

  // Two writers take turns: neither clock is an odd one.
  FarTimes writers;
  for (int i = 0; i < 40; ++i) {
    const Millis passed = i * Millis{1000};
    CHECK(writers.believes(begin + ahead + passed));
    if (i % 10 == 9) CHECK(writers.believes(begin + passed));
  }
}

}  // namespace
}  // namespace l4::stamps
