#include "tools/l4/commands/report_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/pipeline/secrets.h"
#include "aggregator/handout/one_file.h"
#include "aggregator/rows/answers.h"
#include "aggregator/rows/node_rows.h"
#include "aggregator/rows/score_rows.h"
#include "aggregator/scores/matrix.h"
#include "aggregator/serve/json_text.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "aggregator/serve/report_texts.h"
#include "common/http/url.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

constexpr Millis kAskTimeout{30'000};
constexpr std::size_t kEventsWithLines = 12, kLinesOfEvent = 3;  // those that are asked for
constexpr std::size_t kTextBytesMax = 4'096;  // of one text: the example of a line of 90 kB

/// The beginning of a long text, cut between two characters.
void shorten(std::string& text) {
  if (text.size() <= kTextBytesMax) return;
  std::size_t end = kTextBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  text += "…";
}

/// The file is handed on, so it holds no secret that an agent would not send.
void blot_secrets(diagnose::Report& report) {
  const auto secrets = pipeline::known_secrets();
  std::string scratch;
  serve::change_texts(report, [&](std::string& text) {
    const std::string_view left = secrets->apply(text, scratch);
    if (left.data() != text.data()) text.assign(left);
    shorten(text);
  });
}

std::string path_of(const diagnose::Report& report, std::string_view rest) {
  return fmt::format("/api/v1/jobs/{}/{}", http::percent_encoded(report.job.id), rest);
}

ask::Answer<std::string> fetch_json(const ask::Aggregator& asked, const std::string& path) {
  auto body = ask::fetch(asked, path, kAskTimeout);
  if (!body) return body;
  auto tidy = ask::tidied_json(*body, -1);
  if (!tidy) return ask::misread(asked, tidy.error());
  return std::move(*tidy);
}

/// The map that a running job has; the first failure ends it.
ask::Answer<void> fetch_map(const ask::Aggregator& asked, const diagnose::Report& report,
                            Beside& beside) {
  for (const std::string_view what : {"nodes", "ranks", "phases"}) {
    auto scores = fetch_json(asked, path_of(report, fmt::format("scores?what={}&width={}&rows={}",
                                                                what, kMapColumns, kMapRows)));
    if (!scores) return std::unexpected(scores.error());
    const auto rows = ask::read_names(*scores, "rows", "node");
    if (rows && !rows->empty()) beside.scores.push_back(std::move(*scores));
  }
  const auto nodes = fetch_json(asked, path_of(report, fmt::format("nodes?count={}", kMapRows)));
  if (!nodes) return std::unexpected(nodes.error());
  beside.nodes = *nodes;
  return {};
}

ask::Answer<std::vector<diagnose::Example>> fetch_lines(const ask::Aggregator& asked,
                                                        const diagnose::Report& report,
                                                        const diagnose::IndicatingEvent& event) {
  std::string path = path_of(report, fmt::format("lines?template={}&context=0&limit={}",
                                                 to_string(event.id), kLinesOfEvent));
  if (event.first.time) path += "&around=" + http::percent_encoded(to_rfc3339(*event.first.time));
  const auto body = ask::fetch(asked, path, kAskTimeout);
  if (!body) return std::unexpected(body.error());
  const auto list = ask::read_line_list(*body);
  if (!list) return ask::misread(asked, list.error());
  std::vector<diagnose::Example> lines;
  for (const ask::LineRow& row : list->lines) {
    diagnose::Example line{row.node, {}, row.file, 0, row.text};
    if (row.rank) line.rank = Rank(static_cast<Rank::value_type>(*row.rank));
    line.line = static_cast<std::uint64_t>(row.number.value_or(0));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

terminal::OptionRow add_html(terminal::Options& to, std::filesystem::path& html) {
  return to.value("--html", html, "FILE",
                  "also write it as one page for browsers, to be\n"
                  "handed on");
}

Result<void> check_html(const std::filesystem::path& html, const std::string& diff) {
  if (!html.empty() && !diff.empty())
    return std::unexpected(Error{"--html", "shows one report, and no --diff"});
  return terminal::check_writable("--html", html);
}

Beside beside_of(const job::JobState& state, const diagnose::Report& report) {
  Beside beside;
  for (const auto what : {scores::What::nodes, scores::What::ranks, scores::What::phases}) {
    scores::Query query;
    query.what = what;
    query.width = kMapColumns;
    query.rows = kMapRows;
    const auto matrix = scores::score_matrix(state, query);
    if (!matrix || matrix->begins.empty() || matrix->rows.empty()) continue;
    serve::JsonWriter text;
    rows::write(text, report.job.id, *matrix);
    beside.scores.push_back(text.release());
  }
  serve::JsonWriter nodes;
  nodes.open('{').key("nodes").open('[');
  auto all = rows::node_rows(state, &report);
  all.resize(std::min(all.size(), kMapRows));
  for (const rows::NodeRow& row : all) rows::write(nodes, row, std::nullopt);
  nodes.close(']').close('}');
  beside.nodes = nodes.release();
  return beside;
}

Beside fetch_beside(const ask::Aggregator& asked, const diagnose::Report& report,
                    std::string_view program) {
  Beside beside;
  if (const auto map = fetch_map(asked, report, beside); !map) {
    beside.scores.clear();
    terminal::fail({"the file has no map", map.error().error.text()}, terminal::kDone, program);
  }
  for (const diagnose::IndicatingEvent& event : report.events) {
    beside.lines.emplace_back();
    if (!event.examples.empty()) continue;
    if (beside.lines.size() > kEventsWithLines) break;
    auto lines = fetch_lines(asked, report, event);
    if (lines) {
      beside.lines.back() = std::move(*lines);
      continue;
    }
    terminal::fail({"the file lacks raw lines", lines.error().error.text()}, terminal::kDone,
                   program);
    break;
  }
  return beside;
}

std::string html_of(diagnose::Report report, const Beside& beside, std::size_t top) {
  for (std::size_t i = 0; i < std::min(report.events.size(), beside.lines.size()); ++i)
    if (report.events[i].examples.empty()) report.events[i].examples = beside.lines[i];
  blot_secrets(report);
  handout::Contents contents;
  contents.title = report.job.id;
  serve::TextStyle style;
  style.top = top;
  contents.text = serve::to_text(report, style);
  contents.report = serve::to_json(report);
  contents.scores = beside.scores;
  contents.nodes = beside.nodes;
  return handout::one_file(contents);
}

int write_html(const diagnose::Report& report, const Beside& beside, std::size_t top,
               const std::filesystem::path& html, std::string_view program) {
  if (html.empty()) return terminal::kDone;
  return terminal::write_whole(html_of(report, beside, top), html, program);
}

}  // namespace l4::commands
