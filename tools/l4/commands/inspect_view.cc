#include "tools/l4/commands/inspect_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "aggregator/serve/json_value.h"
#include "aggregator/serve/utf8.h"
#include "common/base/grouped.h"
#include "tools/l4/terminal/table.h"

namespace l4::commands {
namespace {

enum FileColumn : std::size_t {
  kFile,
  kNode,
  kKind,
  kRanks,
  kLines,
  kTimed,
  kTimes,
  kMarker,
  kColumns
};
constexpr std::array<std::string_view, kColumns> kHeads{"file",  "node",  "kind",  "ranks",
                                                        "lines", "timed", "times", "iterations"};
using FileRow = std::array<std::string, kColumns>;
using Widths = std::array<std::size_t, kColumns>;

bool to_the_right(std::size_t column) {
  return column == kLines || column == kTimed;
}

std::string_view name(wire::SourceKind kind) {
  switch (kind) {
    case wire::SourceKind::rank:
      return "rank";
    case wire::SourceKind::launcher:
      return "launcher";
    case wire::SourceKind::merged:
      return "merged";
    case wire::SourceKind::kernel:
      return "kernel";
    case wire::SourceKind::other:
      break;
  }
  return "other";
}

/// 0-7,12: ranks in ascending order, for people.
std::string spell(const std::vector<Rank>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end].value() == ranks[end - 1].value() + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[i].value());
    if (end - i > 1) text += fmt::format("-{}", ranks[end - 1].value());
    i = end;
  }
  return text.empty() ? "-" : text;
}

/// The share in percent; 100 % only for all, and 0 % only for nothing.
std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  if (part == 0) return "0 %";
  if (part == whole) return "100 %";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.0f} %", std::clamp(share, 1.0, 99.0));
}

FileRow row_of(const SurveyedFile& file) {
  const agent::FileFacts& facts = file.facts;
  FileRow row;
  row[kFile] = serve::harmless(facts.name);
  if (facts.rotated > 0) row[kFile] += fmt::format(" (+{} older)", facts.rotated);
  row[kNode] = serve::harmless(facts.node);
  row[kKind] = name(file.kind);
  row[kRanks] = spell(facts.ranks);
  row[kLines] = grouped(facts.lines);
  row[kTimed] = percent(facts.lines_with_time, facts.lines);
  row[kTimes] = facts.time_format == "none" || facts.lines == 0 ? "-" : facts.time_format;
  row[kMarker] = facts.iteration_marker.empty() ? "-" : serve::harmless(facts.iteration_marker);
  return row;
}

/// Columns as wide as their longest text, up to a limit; the remaining width goes to files and
/// markers.
Widths fit_widths(const std::vector<FileRow>& rows, std::size_t width) {
  constexpr std::size_t kGap = 2, kNodeMax = 24, kRanksMax = 16, kFileMin = 24, kMarkerMin = 16;
  Widths widths{};
  for (std::size_t column = 0; column < kColumns; ++column) {
    widths[column] = kHeads[column].size();
    for (const FileRow& row : rows)
      widths[column] = std::max(widths[column], serve::cells(row[column]));
  }
  widths[kNode] = std::min(widths[kNode], kNodeMax);
  widths[kRanks] = std::min(widths[kRanks], kRanksMax);
  std::size_t fixed = kGap * (kColumns - 1);
  for (std::size_t column = kNode; column < kMarker; ++column) fixed += widths[column];
  const std::size_t room = std::max(width, fixed + kFileMin + kMarkerMin) - fixed;
  widths[kMarker] = std::min(
      widths[kMarker], std::max({kMarkerMin, room / 3, room - std::min(room, widths[kFile])}));
  widths[kFile] = std::min(widths[kFile], room - widths[kMarker]);
  return widths;
}

std::string line_of(const FileRow& row, const Widths& widths) {
  std::string line;
  for (std::size_t column = 0; column < kColumns; ++column) {
    const std::string text = column == kMarker ? serve::cut(row[column], widths[column])
                                               : terminal::cut_middle(row[column], widths[column]);
    const std::string pad(widths[column] - std::min(widths[column], serve::cells(text)), ' ');
    if (column > 0) line += "  ";
    line += to_the_right(column) ? pad + text : text + pad;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

struct Totals {
  std::set<std::string> nodes;
  std::set<Rank> ranks;
  std::uint64_t lines = 0, timed = 0;
};

Totals total(const Survey& survey) {
  Totals totals;
  for (const SurveyedFile& file : survey.files) {
    totals.nodes.insert(file.facts.node);
    totals.ranks.insert(file.facts.ranks.begin(), file.facts.ranks.end());
    totals.lines += file.facts.lines;
    totals.timed += file.facts.lines_with_time;
  }
  return totals;
}

/// What is odd about a file, or was decided about it; empty if there is nothing to say.
std::string remarks_on(const SurveyedFile& file) {
  const diagnose::SourceRead& read = file.read;
  std::vector<std::string> remarks;
  if (read.understood.glued > 0)
    remarks.push_back(
        fmt::format("{} lines stood behind other text", grouped(read.understood.glued)));
  if (read.understood.split > 0)
    remarks.push_back(
        fmt::format("{} lines were joined from several", grouped(read.understood.split)));
  if (read.marker_why) remarks.push_back("iterations: " + *read.marker_why);
  remarks.insert(remarks.end(), read.unused.begin(), read.unused.end());
  return fmt::format("{}", fmt::join(remarks, "; "));
}

std::string share(std::optional<double> of_lines) {
  return of_lines ? percent(static_cast<std::uint64_t>(std::ceil(*of_lines * 1e6)), 1'000'000)
                  : "-";
}

std::string counted(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

}  // namespace

std::string to_text(const Survey& survey, std::size_t width) {
  constexpr std::size_t kWarningsMax = 20;
  std::vector<FileRow> rows;
  rows.reserve(survey.files.size());
  for (const SurveyedFile& file : survey.files) rows.push_back(row_of(file));
  const Widths widths = fit_widths(rows, width);
  FileRow heads;
  std::ranges::copy(kHeads, heads.begin());
  std::string text = line_of(heads, widths);
  for (const FileRow& row : rows) text += line_of(row, widths);

  const Totals totals = total(survey);
  text += fmt::format("\n{}: {}, {}, {}, {}, {} of them with a time\n", serve::harmless(survey.job),
                      counted(survey.files.size(), "file"), counted(totals.nodes.size(), "node"),
                      counted(totals.ranks.size(), "rank"), counted(totals.lines, "line"),
                      percent(totals.timed, totals.lines));
  text += fmt::format("with a rank {}, in an iteration {}\n", share(survey.all.ranked),
                      share(survey.all.iterated));
  constexpr std::size_t kRemarksMax = 20;
  std::size_t remarked = 0;
  for (const SurveyedFile& file : survey.files) {
    const std::string remarks = remarks_on(file);
    if (remarks.empty() || ++remarked > kRemarksMax) continue;
    text += serve::cut(serve::harmless(fmt::format("{}: {}", file.facts.name, remarks)), width * 2);
    text += '\n';
  }
  if (remarked > kRemarksMax) text += fmt::format("and {} more files\n", remarked - kRemarksMax);
  text += survey.frameworks.empty()
              ? "frameworks: none recognised\n"
              : fmt::format("frameworks: {}\n", fmt::join(survey.frameworks, ", "));
  for (std::size_t i = 0; i < std::min(kWarningsMax, survey.warnings.size()); ++i) {
    const wire::Warning& warning = survey.warnings[i];
    text += serve::cut(
        serve::harmless(fmt::format("warning: {}: {}", warning.file, warning.reason)), width * 2);
    text += '\n';
  }
  if (survey.warnings.size() > kWarningsMax)
    text += fmt::format("and {} more warnings\n", survey.warnings.size() - kWarningsMax);
  return text;
}

std::string to_json(const Survey& survey) {
  using serve::JsonValue;
  using Members = JsonValue::Members;
  const auto share_or_null = [](std::optional<double> of_lines) {
    return of_lines ? JsonValue(*of_lines) : JsonValue();
  };
  const auto texts = [](const std::vector<std::string>& list) {
    JsonValue::List all;
    for (const std::string& text : list) all.emplace_back(text);
    return all;
  };
  JsonValue::List files;
  for (const SurveyedFile& file : survey.files) {
    const agent::FileFacts& facts = file.facts;
    const diagnose::SourceRead& read = file.read;
    JsonValue::List ranks;
    for (const Rank rank : facts.ranks) ranks.emplace_back(rank.value());
    const auto text_or_null = [](const std::string& text) {
      return text.empty() || text == "none" ? JsonValue() : JsonValue(text);
    };
    files.emplace_back(Members{{"file", facts.name},
                               {"node", facts.node},
                               {"kind", name(file.kind)},
                               {"rotated", facts.rotated},
                               {"ranks", ranks},
                               {"bytes", facts.bytes},
                               {"lines", facts.lines},
                               {"lines_with_time", facts.lines_with_time},
                               {"lines_with_rank", facts.lines_with_rank},
                               {"time_format", text_or_null(facts.time_format)},
                               {"iteration_marker", text_or_null(facts.iteration_marker)},
                               {"iteration_marker_why", text_or_null(read.marker_why.value_or(""))},
                               {"ranked", share_or_null(read.understood.ranked)},
                               {"iterated", share_or_null(read.understood.iterated)},
                               {"packs", texts(read.understood.packs)},
                               {"lines_glued", read.understood.glued},
                               {"lines_split", read.understood.split},
                               {"unused", texts(read.unused)}});
  }
  JsonValue::List warnings;
  for (const wire::Warning& warning : survey.warnings)
    warnings.emplace_back(Members{{"kind", warning.kind},
                                  {"file", warning.file},
                                  {"reason", warning.reason},
                                  {"bytes", warning.bytes}});
  const Totals totals = total(survey);
  const Members all{{"schema", "l4.inspect/1"},
                    {"job", survey.job},
                    {"summary", Members{{"files", survey.files.size()},
                                        {"nodes", totals.nodes.size()},
                                        {"ranks", totals.ranks.size()},
                                        {"lines", totals.lines},
                                        {"lines_with_time", totals.timed},
                                        {"ranked", share_or_null(survey.all.ranked)},
                                        {"iterated", share_or_null(survey.all.iterated)},
                                        {"frameworks", survey.frameworks}}},
                    {"files", files},
                    {"warnings", warnings}};
  return serve::dump_json(all, 2) + '\n';
}

}  // namespace l4::commands
