#include "aggregator/diagnose/read_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "aggregator/job/job_state.h"
#include "aggregator/job/stream.h"

namespace l4::diagnose {
namespace {

/// What is known of one file, in records or lines, from which its shares follow.
struct FileCounts {
  std::string_view node;
  std::uint64_t records = 0, ranked = 0, iterated = 0;
  const wire::FileReading* reading = nullptr;
};

using Files = std::map<std::pair<std::string_view, std::string_view>, FileCounts>;  // agent, path

Files files_of(const job::JobState& state) {
  Files files;
  for (const auto& [name, agent] : state.agents())
    for (const auto& [id, stream] : agent.streams) {
      const wire::SourceDefinition& source = stream.source;
      FileCounts& file = files[{name, source.path}];
      file.node = source.node;
      file.records += stream.lines;
      if (source.rank) file.ranked += stream.lines;
      file.iterated += stream.iterated;
      const auto reading = agent.readings.find(source.path);
      if (reading != agent.readings.end()) file.reading = &reading->second;
    }
  return files;
}

std::optional<double> share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 2, list.size()));
  }
  return words;
}

SourceRead source_of(std::string_view path, const FileCounts& file) {
  SourceRead source;
  source.file = path;
  source.node = file.node;
  Understood& all = source.understood;
  all.lines = file.records;
  all.ranked = share_of(file.ranked, file.records);
  all.iterated = share_of(file.iterated, file.records);
  if (file.reading == nullptr) return source;
  const wire::FileReading& reading = *file.reading;
  all.lines = reading.lines;
  all.timed = share_of(reading.timed, reading.lines);
  if (!reading.format.empty()) all.formats = {reading.format};
  all.packs = words_of(reading.packs);
  all.glued = reading.glued;
  all.split = reading.split;
  if (!reading.marker.empty()) source.marker = reading.marker;
  if (!reading.marker_why.empty()) source.marker_why = reading.marker_why;
  return source;
}

Understood sum_of(const Files& files) {
  Understood sum;
  std::uint64_t records = 0, ranked = 0, iterated = 0, lines = 0, timed = 0;
  std::set<std::string> formats, packs;
  for (const auto& [key, file] : files) {
    records += file.records;
    ranked += file.ranked;
    iterated += file.iterated;
    if (file.reading == nullptr) continue;
    lines += file.reading->lines;
    timed += file.reading->timed;
    sum.glued += file.reading->glued;
    sum.split += file.reading->split;
    if (!file.reading->format.empty()) formats.insert(file.reading->format);
    for (std::string& pack : words_of(file.reading->packs)) packs.insert(std::move(pack));
  }
  sum.lines = std::max(lines, records);
  sum.timed = share_of(timed, lines);
  sum.ranked = share_of(ranked, records);
  sum.iterated = share_of(iterated, records);
  sum.formats.assign(formats.begin(), formats.end());
  sum.packs.assign(packs.begin(), packs.end());
  return sum;
}

using Unused = std::map<std::string_view, std::vector<std::string>>;  // by file

/// What could not be used. A file of which nothing was used has no source.
Unused unused_of(const job::JobState& state) {
  constexpr std::size_t kShown = 4;  // of a file
  Unused unused;
  for (const wire::Warning& warning : state.warnings()) {
    if (warning.file.empty()) continue;
    auto& of_file = unused[warning.file];
    if (of_file.size() < kShown)
      of_file.push_back(warning.bytes == 0 ? fmt::format("{}: {}", warning.kind, warning.reason)
                                           : fmt::format("{}: {} ({} bytes)", warning.kind,
                                                         warning.reason, warning.bytes));
  }
  return unused;
}

/// One row of the list, before it is known to be among those that are shown.
struct ListRow {
  std::string_view path;
  const FileCounts* file = nullptr;  ///< null: nothing of it was used
  const std::vector<std::string>* unused = nullptr;
  double timed = 1, ranked = 1, iterated = 0;
  std::uint64_t lines = 0;

  std::string_view node() const { return file == nullptr ? std::string_view() : file->node; }
};

ListRow list_row(std::string_view path, const FileCounts& file, const Unused& unused) {
  ListRow row{path, &file};
  if (const auto known = unused.find(path); known != unused.end()) row.unused = &known->second;
  row.ranked = share_of(file.ranked, file.records).value_or(1);
  row.iterated = share_of(file.iterated, file.records).value_or(0);
  row.lines = file.reading == nullptr ? file.records : file.reading->lines;
  if (file.reading != nullptr)
    row.timed = share_of(file.reading->timed, file.reading->lines).value_or(1);
  return row;
}

/// Files of which something was not used come first, then those with fewest times and ranks.
bool is_worse(const ListRow& a, const ListRow& b) {
  const auto key = [](const ListRow& row) {
    return std::tuple(row.unused == nullptr, row.timed, row.ranked, -row.iterated);
  };
  if (key(a) != key(b)) return key(a) < key(b);
  return std::tuple(b.lines, a.path, a.node()) < std::tuple(a.lines, b.path, b.node());
}

}  // namespace

ReadSummary summarise_reading(const job::JobState& state, std::size_t files_max) {
  const Files files = files_of(state);
  const Unused unused = unused_of(state);
  ReadSummary read;
  read.understood = sum_of(files);
  std::vector<ListRow> rows;
  rows.reserve(files.size());
  for (const auto& [key, file] : files) rows.push_back(list_row(key.second, file, unused));
  std::set<std::string_view> used;
  if (!unused.empty())
    for (const auto& [key, file] : files) used.insert(key.second);
  for (const auto& [path, reasons] : unused)
    if (!used.contains(path)) rows.push_back({path, nullptr, &reasons});
  read.files = rows.size();
  const std::size_t shown = std::min(files_max, rows.size());
  std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(shown), is_worse);
  rows.resize(shown);
  for (const ListRow& row : rows) {
    SourceRead source = row.file == nullptr ? SourceRead() : source_of(row.path, *row.file);
    source.file = row.path;
    if (row.unused != nullptr) source.unused = *row.unused;
    read.sources.push_back(std::move(source));
  }
  return read;
}

std::vector<Asked> asked_files(const job::JobState& state) {
  std::uint64_t answered = 0, empty = 0, refused = 0;
  std::string why;
  for (const auto& [name, agent] : state.agents())
    for (const auto& [path, reading] : agent.readings) ++(reading.lines > 0 ? answered : empty);
  for (const wire::Warning& warning : state.warnings()) {
    if (warning.kind != "unreadable" && warning.kind != "vanished") continue;
    if (refused++ == 0) why = warning.reason;
  }
  std::vector<Asked> asked;
  if (answered > 0) asked.push_back({"files", {}, Reply::answered, answered, ""});
  if (empty > 0) asked.push_back({"files", {}, Reply::empty, empty, "no line"});
  if (refused > 0) asked.push_back({"files", {}, Reply::refused, refused, why});
  return asked;
}

}  // namespace l4::diagnose
