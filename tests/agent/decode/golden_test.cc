// Each format has a small file golden/NAME and its records in golden/NAME.records: lines, time,
// level, speaker and text of each. Files are read as the agent reads them, packed or not.
// L4_UPDATE_GOLDEN=1 writes the records again: read the difference before committing it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "agent/discover/file_reader.h"
#include "tests/agent/decode/decode_text.h"

namespace l4::decode {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = L4_SOURCE_DIR "/tests/agent/decode/golden";
constexpr std::size_t kTextMax = 160;

std::string whole_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string read_as_agent(const fs::path& path) {
  auto reader = discover::FileReader::open(path);
  REQUIRE(reader);
  std::string text;
  std::vector<char> chunk(4096);
  for (;;) {
    const auto read = reader->read(chunk);
    if (!read) FAIL(path.string() << ": " << read.error().reason);
    if (*read == 0) return text;
    text.append(chunk.data(), *read);
  }
}

/// `1-3,7 +2`: physical lines and the number of CR updates.
std::string spell_lines(const test::Kept& record) {
  std::string text;
  for (std::size_t i = 0; i < record.lines.size();) {
    std::size_t last = i;
    while (last + 1 < record.lines.size() && record.lines[last + 1] == record.lines[last] + 1)
      ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", record.lines[i]);
    if (last > i) text += fmt::format("-{}", record.lines[last]);
    i = last + 1;
  }
  if (record.updates > 0) text += fmt::format(" +{}", record.updates);
  return text;
}

std::string spell_speaker(const test::Kept& record) {
  std::string text;
  if (record.rank) text += fmt::format(" rank={}", *record.rank);
  if (record.local_rank) text += fmt::format(" local={}", *record.local_rank);
  if (!record.host.empty()) text += " host=" + record.host;
  return text.empty() ? "-" : text.substr(1);
}

std::string row_of(const test::Kept& record) {
  std::string text = record.text;
  if (text.size() > kTextMax)
    text = fmt::format("{}... {} bytes", text.substr(0, kTextMax), text.size());
  if (record.progress) text += fmt::format("  (at {})", *record.progress);
  const std::string when = record.time ? to_rfc3339(*record.time) : "-";
  return fmt::format("{}  {}  {}  {}  | {}\n", spell_lines(record), when, name(record.level),
                     spell_speaker(record), text);
}

/// Records in the order of their first lines, also those that overtook a traceback.
std::string records_of(const fs::path& file) {
  Options options;
  options.year_hint = parse_time("2026-12-01T00:00:00Z");
  test::Decoded decoded = test::decode_text(read_as_agent(file), options);
  std::ranges::stable_sort(decoded.records, {},
                           [](const test::Kept& record) { return record.lines.front(); });
  std::string text =
      fmt::format("times: {}; blank lines: {}; cut: {}; not UTF-8: {}\n", decoded.format,
                  decoded.stats.blank_lines, decoded.stats.cut_lines, decoded.stats.invalid_utf8);
  for (const test::Kept& record : decoded.records) text += row_of(record);
  return text;
}

std::vector<std::string> rows(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Rows that only one of the texts has, each with its sign, in order.
std::string difference(const std::string& expected, const std::string& got) {
  const auto old_rows = rows(expected);
  const auto new_rows = rows(got);
  std::string text;
  for (const auto& row : old_rows)
    if (std::ranges::find(new_rows, row) == new_rows.end()) text += "  - " + row + '\n';
  for (const auto& row : new_rows)
    if (std::ranges::find(old_rows, row) == old_rows.end()) text += "  + " + row + '\n';
  return text.empty() ? "  the same rows in another order\n" : text;
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() != ".records") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

bool updating() {
  const char* wish = std::getenv("L4_UPDATE_GOLDEN");
  return wish != nullptr && std::string_view(wish) == "1";
}

TEST_CASE("golden: each format gives its records") {
  const auto files = golden_files();
  REQUIRE(files.size() >= 130);
  for (const fs::path& file : files) {
    const fs::path records = file.string() + ".records";
    const std::string got = records_of(file);
    if (updating()) std::ofstream(records, std::ios::binary) << got;
    const std::string expected = whole_file(records);
    CHECK_MESSAGE(got == expected, file.filename().string(), " (- expected, + got):\n",
                  difference(expected, got));
  }
}

TEST_CASE("golden: no line is lost, however the file is cut into chunks") {
  for (const fs::path& file : golden_files()) {
    CAPTURE(file.filename().string());
    const std::string text = read_as_agent(file);
    const test::Decoded whole = test::decode_text(text);
    std::set<std::uint64_t> lines;
    for (const test::Kept& record : whole.records)
      lines.insert(record.lines.begin(), record.lines.end());
    CHECK(lines.size() + whole.stats.blank_lines == whole.stats.lines);
    const test::Decoded parts = test::decode_chunks(text, [] { return std::size_t{7}; });
    CHECK(parts.records == whole.records);
  }
}

TEST_CASE("golden: every format is described in docs/FORMATS.md") {
  const std::string formats = whole_file(L4_SOURCE_DIR "/docs/FORMATS.md");
  REQUIRE_FALSE(formats.empty());
  for (const fs::path& file : golden_files()) {
    const std::string quoted = "`" + file.filename().string() + "`";
    CHECK_MESSAGE(formats.find(quoted) != std::string::npos, quoted, " is not in docs/FORMATS.md");
  }
}

}  // namespace
}  // namespace l4::decode
