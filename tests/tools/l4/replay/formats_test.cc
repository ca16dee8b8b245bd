// Every format that the decoder reads is moved, by its examples in tests/agent: a new row of the
// table without an example, or one whose examples cannot be moved, fails here.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/discover/file_reader.h"
#include "agent/stamps/timestamp_reader.h"
#include "tests/agent/stamps/stamp_rows.h"
#include "tools/l4/replay/stamp_finder.h"
#include "tools/l4/replay/stamp_form.h"

namespace l4::replay {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::seconds;

const TimeMs kHint = parse_time("2026-12-01T00:00:00Z").value();

// From 2026-11-20, the day of most examples: over midnight, noon, ends of months and of the year,
// to the 29th of February 2028, and back.
const std::vector<seconds> kShifts{0s,
                                   1s,
                                   -1s,
                                   1h,
                                   -1h,
                                   12h,
                                   days{1},
                                   -days{1},
                                   days{10},
                                   days{11},
                                   days{40},
                                   days{42},
                                   days{71},
                                   days{100},
                                   days{365},
                                   days{466},
                                   days{467},
                                   days{-325},
                                   days{42} + 8h + 5min + 39s};

/// Formats whose lines hold no point in time.
const std::set<std::string_view> kTimeless{"uptime", "kmsg"};

/// The text of a file as an agent reads it.
std::string content_of(const fs::path& path) {
  auto reader = discover::FileReader::open(path);
  REQUIRE(reader);
  std::string text(1 << 20, '\0');
  std::size_t size = 0;
  for (std::size_t n = 1; n > 0; size += n)
    n = reader->read({text.data() + size, text.size() - size}).value_or(0);
  text.resize(size);
  return text;
}

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// The line without what a time may be made of: numbers and names of days and months, whatever
/// their width.
std::string without_times(std::string_view line) {
  std::string rest;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view here = line.substr(i);
    if (here.size() >= 3 && (month_named(here) || day_named(here))) {
      rest += '@';
      i += 2;
    } else if (here.starts_with("AM") || here.starts_with("PM")) {
      rest += '@';
      ++i;
    } else if (here[0] >= '0' && here[0] <= '9') {
      while (!rest.empty() && (rest.back() == ' ' || rest.back() == '#')) rest.pop_back();
      rest += '#';
    } else {
      rest += here[0];
    }
  }
  return rest;
}

/// Moves the text by all shifts and reads it again. Returns the lines that have places.
std::set<std::size_t> check_moves(const std::string& text, const std::string& what) {
  CAPTURE(what);
  const LineTimes times = read_times(text, kHint);
  std::optional<TimeMs> first, last;
  for (const Line& line : times.lines)
    if (line.time) {
      first = std::min(first.value_or(*line.time), *line.time);
      last = std::max(last.value_or(*line.time), *line.time);
    }
  StampFinder finder{first.value_or(kHint), last.value_or(kHint)};
  UnmovedLines unmoved;
  const std::vector<Place> places = finder.find(text, times, kHint, days{40}, unmoved);
  CAPTURE(unmoved.first);
  CHECK(unmoved.count == 0);
  const MovedText moved_text{text, places, finder.forms()};
  const auto lines = lines_in(text);
  std::set<std::size_t> with_places;
  std::vector<bool> clock_only(lines.size()), minutes(lines.size());
  for (const Place& place : places) {
    const auto line =
        std::ranges::find_if(times.lines, [&](const Line& each) { return each.end > place.at; });
    const auto index = static_cast<std::size_t>(line - times.lines.begin());
    with_places.insert(index);
    const StampForm& form = finder.forms()[place.form];
    clock_only[index] = clock_only[index] || !form.has_date();
    minutes[index] = !form.has(Part::second) && !form.has(Part::epoch);
  }
  for (const seconds shift : kShifts) {
    std::string moved;
    moved_text.append(0, text.size(), shift, moved);
    // 24:00:00 and 23:59:60 are written as the times that they are.
    if (shift == 0s && what != "stamp-ends-of-day.log") CHECK(moved == text);
    const auto moved_lines = lines_in(moved);
    REQUIRE(moved_lines.size() == lines.size());
    const LineTimes again = read_times(moved, kHint + shift);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CAPTURE(shift.count());
      CAPTURE(lines[i]);
      CAPTURE(moved_lines[i]);
      CHECK(without_times(moved_lines[i]) == without_times(lines[i]));
      const auto& was = times.lines[i].time;
      const auto& is = again.lines[i].time;
      REQUIRE(was.has_value() == is.has_value());
      if (!was || !with_places.contains(i)) continue;
      const Millis off = *is - (*was + shift);
      if (clock_only[i])
        CHECK(off % days{1} == 0ms);
      else if (minutes[i])
        CHECK((off <= 0ms && off > -1min));
      else
        CHECK(off == 0ms);
    }
  }
  return with_places;
}

TEST_CASE("formats: every example of a time stamp is moved") {
  std::set<std::string, std::less<>> moved;
  const auto note = [&](const std::string& text, const std::string& what) {
    const auto with_places = check_moves(text, what);
    const auto lines = lines_in(text);
    for (const std::size_t index : with_places) {
      stamps::TimestampReader reader{{.year_hint = kHint}};
      if (reader.read(std::string_view(lines[index]).substr(0, lines[index].find('\n'))))
        moved.emplace(reader.format());
    }
  };
  for (const stamps::StampRow& row : stamps::kStampRows)
    note(std::string(row.line) + "\n", row.line);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(L4_SOURCE_DIR "/tests/agent/decode/golden"))
    if (entry.path().extension() != ".records") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) note(content_of(file), file.filename().string());
  for (const stamps::StampFormat& format : stamps::stamp_formats())
    CHECK_MESSAGE((kTimeless.contains(format.name) || moved.contains(format.name)), format.name,
                  ": no line of the examples in tests/agent could be moved");
}

TEST_CASE("formats: envelopes and the loggers in them are moved together") {
  const struct {
    const char* line;
    const char* moved;
  } kRows[] = {
      {R"(2026-11-20T15:54:21.123456789Z stdout F 2026-11-20 15:54:21,122 INFO text)",
       R"(2026-12-31T00:54:31.123456789Z stdout F 2026-12-31 00:54:31,122 INFO text)"},
      {R"(2026-11-20T15:54:21.5+08:00 stderr P [2026-11-20 15:54:21 rank0 INFO] text)",
       R"(2026-12-31T00:54:31.5+08:00 stderr P [2026-12-31 00:54:31 rank0 INFO] text)"},
      {R"({"log":"I1120 15:54:21.1 7 a.cc:1] text\n","stream":"stdout",)"
       R"("time":"2026-11-20T15:54:21.1Z"})",
       R"({"log":"I1231 00:54:31.1 7 a.cc:1] text\n","stream":"stdout",)"
       R"("time":"2026-12-31T00:54:31.1Z"})"},
      {R"({"message": "step 7 at 15:54", "level": "INFO", "timestamp": "2026-11-20T15:54:21Z"})",
       R"({"message": "step 7 at 15:54", "level": "INFO", "timestamp": "2026-12-31T00:54:31Z"})"},
      {R"({"ts":1795190061.25,"level":"info","msg":"text"})",
       R"({"ts":1798678471.25,"level":"info","msg":"text"})"},
      {R"(Fri, 20 Nov 2026 3:54:21 PM text)", R"(Thu, 31 Dec 2026 12:54:31 AM text)"},
      {R"([rank3]: 11/20/26 15:54:21 text 2026/11/20 15:54:21)",
       R"([rank3]: 12/31/26 00:54:31 text 2026/12/31 00:54:31)"},
  };
  for (const auto& row : kRows) {
    CAPTURE(std::string{row.line});
    const std::string text = std::string(row.line) + "\n";
    const LineTimes times = read_times(text, kHint);
    const TimeMs time = times.lines[0].time.value();
    StampFinder finder{time, time};
    UnmovedLines unmoved;
    const auto places = finder.find(text, times, kHint, days{40}, unmoved);
    std::string moved;
    MovedText{text, places, finder.forms()}.append(0, text.size(), days{40} + 9h + 10s, moved);
    CHECK(moved == std::string(row.moved) + "\n");
  }
}

TEST_CASE("formats: times in the text of lines are moved, names of files and other dates are not") {
  const std::string text =
      "2026-11-20 15:54:21,123 INFO begins at 2026-11-20T15:54:20Z, built 2025-01-02 10:00:00\n"
      "  time      : 2026-11-20_15:54:22\n"
      "  time      : 2026-11-20_15:54:23\n"
      "saved /ckpt/2026-11-20_15:54:22/step_7 and run-2026-11-20_15:54:22.log\n"
      "model 2026 has 1795190061 parameters\n"
      "2026-11-20 15:54:23,123 INFO it is 15:54:23 now, file a_2026-11-20 15:54:23.log\n";
  const LineTimes times = read_times(text, kHint);
  StampFinder finder{*times.lines[0].time, *times.lines[5].time};
  UnmovedLines unmoved;
  const auto places = finder.find(text, times, kHint, days{40}, unmoved);
  CHECK(unmoved.count == 0);
  std::string moved;
  MovedText{text, places, finder.forms()}.append(0, text.size(), days{40} + 1s, moved);
  CHECK(moved ==
        "2026-12-30 15:54:22,123 INFO begins at 2026-12-30T15:54:21Z, built 2025-01-02 10:00:00\n"
        "  time      : 2026-12-30_15:54:23\n"
        "  time      : 2026-12-30_15:54:24\n"
        "saved /ckpt/2026-11-20_15:54:22/step_7 and run-2026-11-20_15:54:22.log\n"
        "model 2026 has 1795190061 parameters\n"
        "2026-12-30 15:54:24,123 INFO it is 15:54:24 now, file a_2026-11-20 15:54:23.log\n");
}

}  // namespace
}  // namespace l4::replay
