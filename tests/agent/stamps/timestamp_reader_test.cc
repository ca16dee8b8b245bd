#include "agent/stamps/timestamp_reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace l4::stamps {
namespace {

struct StampRow {
  const char* line;
  const char* format;
  const char* time;
  const char* rest;  // the line without its stamp
};

const StampRow kStampRows[] = {
    {"2026-11-20T15:54:21.123Z text", "iso", "2026-11-20T15:54:21.123Z", "text"},
    {"2026-11-20T15:54:21.123456+02:00 text", "iso", "2026-11-20T13:54:21.123Z", "text"},
    {"2026-11-20 15:54:21,123 - root - INFO - text", "python", "2026-11-20T15:54:21.123Z",
     "root - INFO - text"},
    {"2024-01-01 10:00:00.123 | INFO | text", "iso", "2024-01-01T10:00:00.123Z", "INFO | text"},
    {"2024-01-01 10:00:00 +0800 text", "iso", "2024-01-01T02:00:00.000Z", "text"},
    {"2024-01-01 10:00:00.123456: W tensorflow/core text", "iso", "2024-01-01T10:00:00.123Z",
     "W tensorflow/core text"},
    {"[2026-11-20 15:58:27,363] [INFO] text", "bracket_iso", "2026-11-20T15:58:27.363Z",
     "[INFO] text"},
    {"[2026-11-20 15:54:21 rank0 WARNING] text", "bracket_iso", "2026-11-20T15:54:21.000Z",
     "[rank0 WARNING] text"},
    {" [2024-05-25 06:29:49] iteration 10", "bracket_iso", "2024-05-25T06:29:49.000Z",
     "iteration 10"},
    {"11/20/2026 15:53:26 - INFO - text", "us_slash", "2026-11-20T15:53:26.000Z", "INFO - text"},
    {"2026/11/20 15:53:26 text", "slash", "2026-11-20T15:53:26.000Z", "text"},
    {"26/11/20 15:53:26 INFO text", "slash", "2026-11-20T15:53:26.000Z", "INFO text"},
    {"[11/20/26 15:53:26] INFO text", "bracket_slash", "2026-11-20T15:53:26.000Z", "INFO text"},
    {"[11/20 15:53:26 d2.engine]: text", "bracket_slash", "2026-11-20T15:53:26.000Z",
     "[d2.engine]: text"},
    {"I20261120 15:54:09.257628 28907 file.cpp:49] text", "glog", "2026-11-20T15:54:09.257Z",
     "file.cpp:49] text"},
    {"E1118 20:27:21.4264 4115 api.py:1] text", "glog", "2026-11-18T20:27:21.426Z",
     "api.py:1] text"},
    {"[W613 02:25:19.600372791 ProcessGroupNCCL.cpp:4115] text", "glog", "2026-06-13T02:25:19.600Z",
     "[ProcessGroupNCCL.cpp:4115] text"},
    {"[INFO|trainer.py:1284] 2026-11-20 15:53:26,917 >> text", "tagged_iso",
     "2026-11-20T15:53:26.917Z", "[INFO|trainer.py:1284] >> text"},
    {"[titan] 2025-06-04 08:51:48,074 - root - text", "tagged_iso", "2025-06-04T08:51:48.074Z",
     "[titan] root - text"},
    {"INFO 2025-06-04 08:51:48 text", "tagged_iso", "2025-06-04T08:51:48.000Z", "INFO text"},
    {"DLL 2025-10-03 22:16:01.317949 - epoch 1", "tagged_iso", "2025-10-03T22:16:01.317Z",
     "DLL epoch 1"},
    {"[NeMo W 2024-01-02 03:04:05 file:12] text", "nemo", "2024-01-02T03:04:05.000Z",
     "[NeMo W file:12] text"},
    {":::MLLOG {\"namespace\": \"\", \"time_ms\": 1743201441004, \"k\": 1}", "mllog",
     "2025-03-28T22:37:21.004Z",
     ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1743201441004, \"k\": 1}"},
    {"[1759897476.656360] [h-1:22:0] text", "bracket_epoch", "2025-10-08T04:24:36.656Z",
     "[h-1:22:0] text"},
    {"2022-12-01-03:02:29.001.054 text", "ascend", "2022-12-01T03:02:29.001Z", "text"},
    {"[WARNING] ME(123:456,Main):2023-01-01-10:00:00.123.456 [f.cc:1] text", "ascend",
     "2023-01-01T10:00:00.123Z", "[WARNING] ME(123:456,Main):[f.cc:1] text"},
    {"2024:01:01-10:00:00:(123) |CCL_WARN| text", "one_ccl", "2024-01-01T10:00:00.000Z",
     "|CCL_WARN| text"},
    {"[Thu Mar  2 15:59:56 2023] NVRM: Xid", "ctime", "2023-03-02T15:59:56.000Z", "NVRM: Xid"},
    {"Wed Jun 13 02:24:45 2024", "ctime", "2024-06-13T02:24:45.000Z", ""},
    {"Mar  2 15:59:56 node-3 kernel: text", "syslog", "2026-03-02T15:59:56.000Z", "kernel: text"},
    {"2023-03-02T15:59:56.123456+00:00 node-3 kernel: text", "syslog_iso",
     "2023-03-02T15:59:56.123Z", "kernel: text"},
    {"kern  :warn  : 2025-01-21T04:41:44,283302+00:00 NVRM: Xid", "dmesg_decoded",
     "2025-01-21T04:41:44.283Z", "NVRM: Xid"},
    {"{\"level\": \"error\", \"time\": \"2024-01-01T10:00:00Z\", \"msg\": 1}", "keyed",
     "2024-01-01T10:00:00.000Z",
     "{\"level\": \"error\", \"time\": \"2024-01-01T10:00:00Z\", \"msg\": 1}"},
    {"[after dataloaders are built] datetime: 2021-05-25 06:30:00 ", "spoken",
     "2021-05-25T06:30:00.000Z", "[after dataloaders are built] datetime: 2021-05-25 06:30:00 "},
    {"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2023-05-01T12:00:00 DUE TO TIME LIMIT ***",
     "spoken", "2023-05-01T12:00:00.000Z",
     "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2023-05-01T12:00:00 DUE TO TIME LIMIT ***"},
    {"[INFO|2026-11-20 15:53:26] trainer.py:2314 >> text", "framed", "2026-11-20T15:53:26.000Z",
     "[INFO] trainer.py:2314 >> text"},
    {"| ERROR | 2026-11-20 15:53:26,917 | text", "framed", "2026-11-20T15:53:26.917Z",
     "| ERROR | text"},
    {"Terminated at Fri Nov 20 15:53:26 2026", "framed", "2026-11-20T15:53:26.000Z",
     "Terminated at "},
    {"ENDING TIMING RUN AT 2023-07-30 11:30:48 PM", "spoken", "2023-07-30T23:30:48.000Z",
     "ENDING TIMING RUN AT 2023-07-30 11:30:48 PM"},
};

TEST_CASE("timestamp: format, time and rest of a line") {
  for (const StampRow& row : kStampRows) {
    CAPTURE(std::string{row.line});
    TimestampReader reader{Millis{0}, parse_time("2026-12-01T00:00:00Z")};
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
                           "[INFO] the data of 2019-01-01 00:00:00"}) {
    CAPTURE(std::string{line});
    TimestampReader reader{Millis{0}, std::nullopt};
    CHECK_FALSE(reader.read(line));
    CHECK(reader.format() == "none");
  }
}

TEST_CASE("timestamp: zone, year, and times that cannot be known") {
  TimestampReader east{std::chrono::hours{8}, std::nullopt};
  CHECK(to_rfc3339(*east.read("2024-01-01 10:00:00 x")->time) == "2024-01-01T02:00:00.000Z");
  CHECK(to_rfc3339(*east.read("2024-01-01T10:00:00Z x")->time) == "2024-01-01T10:00:00.000Z");

  TimestampReader blind{Millis{0}, std::nullopt};
  const auto unknown = blind.read("W0613 02:25:19.600 f.cpp:1] x");
  REQUIRE(unknown);
  CHECK_FALSE(unknown->time);
  CHECK(unknown->level == Level::warning);
  // A full stamp of the same source gives the year, also across its end.
  blind.read("2023-12-31T23:59:00Z x");
  CHECK(to_rfc3339(*blind.read("W0101 00:00:19.600 f.cpp:1] x")->time) ==
        "2024-01-01T00:00:19.600Z");
  TimestampReader hinted{Millis{0}, parse_time("2026-01-05T00:00:00Z")};
  CHECK(to_rfc3339(*hinted.read("W1231 00:00:19.600 f.cpp:1] x")->time) ==
        "2025-12-31T00:00:19.600Z");
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
    TimestampReader reader{Millis{0}, parse_time("2026-12-01T00:00:00Z")};
    if (!reader.read(line)) continue;
    if (seen.emplace(reader.format(), line.substr(0, 1)).second) lines.push_back(line);
  }
  return lines;
}

TEST_CASE("each row of the table reads a line of a golden file") {
  std::set<std::string, std::less<>> found;
  for (const std::string& line : golden_lines()) {
    TimestampReader reader{Millis{0}, parse_time("2026-12-01T00:00:00Z")};
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

}  // namespace
}  // namespace l4::stamps
