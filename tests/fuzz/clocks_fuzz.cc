// Arbitrary lines as those of a log: stamps lie within their lines, times in the years of logs, the
// table's rows name all lines that their scanners take, and a line far from all others has no time.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/stamps/timestamp_reader.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using l4::Millis;
using l4::TimeMs;
using l4::fuzz::require;
using l4::stamps::Clock;
using l4::stamps::Stamp;
using l4::stamps::TimestampReader;

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void check_stamp(std::string_view line, const Stamp& stamp) {
  require(stamp.cut_from <= stamp.cut_to && stamp.cut_to <= line.size(), "a stamp is in its line");
  if (!stamp.host.empty())
    require(stamp.host.data() >= line.data() &&
                stamp.host.data() + stamp.host.size() <= line.data() + line.size(),
            "a host is in its line");
  if (!stamp.time) return;
  const TimeMs first = l4::from_civil(1980, 1, 1, 0, 0, 0, 0);
  const TimeMs last = l4::from_civil(2102, 1, 1, 0, 0, 0, 0);
  require(*stamp.time > first && *stamp.time < last, "a time is of a year of logs");
}

void check_rows(const std::string& line) {
  const auto formats = l4::stamps::stamp_formats();
  const std::uint64_t rows = l4::stamps::stamp_rows(line);
  for (std::size_t i = 0; i < formats.size(); ++i) {
    l4::stamps::RawStamp raw;
    if (line.size() < 2 || (rows >> i & 1) != 0 ||
        formats[i].first.find(line[0]) == std::string_view::npos)
      continue;
    require(!formats[i].scan(line, raw), "a row names the lines that its scanner takes");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const l4::fuzz::Input input(data, size);
  const TimeMs usual = l4::from_civil(2026, 11, 20, 12, 0, 0, 0);
  Clock clock;
  if ((input.steer & 1) != 0) clock.year_hint = usual;
  if ((input.steer & 2) != 0) clock.usual = usual;
  if ((input.steer & 4) != 0) clock.zone = std::chrono::hours{-8};
  clock.doubts = (input.steer & 8) == 0;
  TimestampReader reader{clock}, again{clock};
  for (const std::string_view line : lines_in(input.text)) {
    const auto stamp = reader.read(line), same = again.read(line);
    require(stamp.has_value() == same.has_value(), "a line is read as before");
    require(!stamp || stamp->time == same->time, "a time is read as before");
    if (stamp) check_stamp(line, *stamp);
    check_rows(std::string(line));
    TimestampReader judge{{.year_hint = usual, .usual = usual}};
    if (const auto alone = judge.read(line); alone && alone->time)
      require(std::chrono::abs(*alone->time - usual) <= std::chrono::days{8 * 366 + 1},
              "a far time is not believed");
  }
  return 0;
}
