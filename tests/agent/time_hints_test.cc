#include "agent/time_hints.h"

#include <doctest/doctest.h>

#include "tests/temp_folder.h"

namespace l4::agent {
namespace {

const auto kFileTime = parse_time("2026-11-20T00:00:00Z");
constexpr auto kNoYear = "I0304 09:12:01.451247 140641718562816 trainer.py:501] step 1\n";
constexpr auto kFull = "2025-03-04 09:15:03.140058: E coordination.cc:954] lost\n";

std::vector<discover::LogFile> files_of(const test::TempFolder& folder,
                                        const std::vector<std::string>& texts) {
  std::vector<discover::LogFile> files;
  for (const std::string& text : texts) {
    discover::LogFile file;
    file.path = folder.file("log" + std::to_string(files.size()), text);
    file.bytes = text.size();
    file.modified = kFileTime;
    files.push_back(std::move(file));
  }
  return files;
}

std::string year_of(const TimeHint& hint) {
  return hint.year ? to_rfc3339(*hint.year).substr(0, 4) : "none";
}

TEST_CASE("time hints: the file's own full stamp, else a neighbour's, else the file time") {
  const test::TempFolder folder;
  const auto hints = time_hints(files_of(
      folder, {std::string(kNoYear) + kFull, kNoYear, std::string(kFull) + kNoYear, "no time\n"}));
  CHECK(year_of(hints[0]) == "2025");
  CHECK(year_of(hints[1]) == "2025");
  CHECK(hints[2].year == kFileTime);  // its first stamp says the year, so no hint is needed
  CHECK(hints[3].year == kFileTime);
  CHECK(time_hints(files_of(folder, {kNoYear}))[0].year == kFileTime);
}

TEST_CASE("time hints: a full stamp far behind, and at the end of a large file") {
  const test::TempFolder folder;
  std::string filler;
  while (filler.size() < 100'000) filler += kNoYear;
  CHECK(year_of(time_hints(files_of(folder, {filler + kFull}))[0]) == "2025");
  while (filler.size() < 2'000'000) filler += kNoYear;
  CHECK(year_of(time_hints(files_of(folder, {filler + kFull}))[0]) == "2025");
}

TEST_CASE(
    "time hints: kind 'no year on a node': that of another node, unless the node prints one") {
  const test::TempFolder folder;
  const TimeMs of_job{std::chrono::sys_days{std::chrono::year{2024} / 6 / 14}};
  CHECK(year_of(time_hints(files_of(folder, {kNoYear}), of_job)[0]) == "2024");
  CHECK(year_of(time_hints(files_of(folder, {kNoYear, kFull}), of_job)[0]) == "2025");
  CHECK(time_hints(files_of(folder, {"no time\n"}), of_job)[0].year == kFileTime);
  CHECK(printed_time(files_of(folder, {kNoYear, "no time\n", kFull})).has_value());
  CHECK_FALSE(printed_time(files_of(folder, {kNoYear, "no time\n"})).has_value());
}

TEST_CASE("time hints: times of day, and files that are gone") {
  const test::TempFolder folder;
  auto files = files_of(folder, {std::string("[22:10:00] begin\n") + kFull});
  files.emplace_back().path = folder.path() / "gone";
  const auto hints = time_hints(files);
  CHECK(year_of(hints[0]) == "2025");
  CHECK_FALSE(hints[1].year.has_value());
}

std::string usual_of(const TimeHint& hint) {
  return hint.usual ? to_rfc3339(*hint.usual).substr(0, 10) : "none";
}

TEST_CASE("time hints: the usual time is that of most stamps, in short files of most files") {
  const test::TempFolder folder;
  const std::string unset = "1999-12-31 00:00:04 clock is not set\n";
  const std::string full = kFull;
  const auto hints = time_hints(
      files_of(folder, {unset + full + full + full, unset, full, full + full, "no time\n"}));
  for (const TimeHint& hint : hints) CHECK(usual_of(hint) == "2025-03-04");
  CHECK(usual_of(time_hints(files_of(folder, {"no time\n"}))[0]) == "none");
}

}  // namespace
}  // namespace l4::agent
