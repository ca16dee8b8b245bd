#include "tools/l4/commands/report_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "agent/pipeline/secrets.h"
#include "aggregator/faults/library.h"
#include "aggregator/handout/one_file.h"
#include "aggregator/handout/worst_cells.h"
#include "aggregator/rows/answers.h"
#include "aggregator/rows/near_rows.h"
#include "aggregator/rows/node_rows.h"
#include "aggregator/rows/score_rows.h"
#include "aggregator/rows/term_rows.h"
#include "aggregator/scores/matrix.h"
#include "aggregator/scores/terms.h"
#include "aggregator/serve/json_text.h"
#include "aggregator/serve/phrases.h"
#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "aggregator/serve/report_texts.h"
#include "common/http/url.h"
#include "offline/settings.h"
#include "tools/l4/ask/live_json.h"
#include "tools/l4/terminal/exit.h"
#include "tools/l4/terminal/output.h"

namespace l4::commands {
namespace {

constexpr Millis kAskTimeout{30'000}, kTermsWithin{20'000};
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
std::function<void(std::string&)> blotter() {
  return [secrets = std::shared_ptr(pipeline::known_secrets()),
          scratch = std::string()](std::string& text) mutable {
    const std::string_view left = secrets->apply(text, scratch);
    if (left.data() != text.data()) text.assign(left);
    shorten(text);
  };
}

/// Terms are looked at for the first suspects; each cell costs as much as a map, so that a large
/// job has them of fewer.
constexpr std::size_t kSuspects = 3, kCellsOfNode = 8, kCellNodes = 1'024;

std::size_t cells_of_each(std::size_t nodes) {
  return std::clamp<std::size_t>(kCellNodes / std::max<std::size_t>(nodes, 1), 1, kCellsOfNode);
}

std::vector<handout::MapCell> cells_to_explain(const std::vector<std::string>& maps,
                                               const diagnose::Report& report) {
  std::vector<std::string> nodes;
  for (const diagnose::SuspectNode& node : report.nodes)
    if (nodes.size() < kSuspects) nodes.push_back(node.node);
  std::vector<handout::MapCell> cells;
  for (const std::string& map : maps)
    for (auto& cell : handout::worst_cells(map, nodes, cells_of_each(report.job.nodes)))
      cells.push_back(std::move(cell));
  return cells;
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

std::string terms_path(const diagnose::Report& report, const handout::MapCell& cell) {
  std::string path =
      path_of(report, fmt::format("scores/terms?what={}&width={}", cell.what, cell.width));
  for (const auto& [name, value] : {std::pair("from", &cell.from),
                                    {"to", &cell.to},
                                    {"node", &cell.node},
                                    {"at", &cell.at},
                                    {"phase", &cell.phase}})
    if (!value->empty()) path += fmt::format("&{}={}", name, http::percent_encoded(*value));
  return path;
}

/// The terms of the cells that a reader opens first. A cell that is gone by now has none.
ask::Answer<void> fetch_terms(const ask::Aggregator& asked, const diagnose::Report& report,
                              Beside& beside) {
  const auto end = std::chrono::steady_clock::now() + kTermsWithin;
  for (const handout::MapCell& cell : cells_to_explain(beside.scores, report)) {
    if (std::chrono::steady_clock::now() > end)
      return std::unexpected(ask::Failure{{"", "it takes too long to ask for all of them"}});
    auto terms = fetch_json(asked, terms_path(report, cell));
    if (terms)
      beside.terms.push_back(std::move(*terms));
    else if (!terms.error().is_not_found())
      return std::unexpected(terms.error());
  }
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

std::vector<std::string> terms_of(const job::JobState& state, const diagnose::Report& report,
                                  const std::vector<std::string>& maps) {
  const auto cells = cells_to_explain(maps, report);
  std::vector<scores::TermsQuery> queries;
  for (const handout::MapCell& cell : cells) {
    scores::TermsQuery query{{}, cell.node, cell.phase, cell.at};
    query.matrix.what = rows::what_of(cell.what).value_or(scores::What::nodes);
    query.matrix.from = cell.from;
    query.matrix.to = cell.to;
    query.matrix.width = cell.width;
    queries.push_back(std::move(query));
  }
  std::vector<std::string> found;
  const auto all = scores::terms_of_cells(state, queries);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    serve::JsonWriter text;
    rows::write(text, report.job.id, cells[i].node, *all[i]);
    found.push_back(text.release());
  }
  return found;
}

std::string near_to(const diagnose::Report& report, const l4::faults::Library& library) {
  serve::JsonWriter text;
  rows::write_near_faults(text, report, library);
  return text.release();
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

Beside beside_of(const job::JobState& state, const diagnose::Report& report,
                 const l4::faults::Library& library) {
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
  beside.terms = terms_of(state, report, beside.scores);
  beside.near = near_to(report, library);
  return beside;
}

Beside beside_of(const diagnose::Report& report, std::string_view program) {
  Beside beside;
  const auto settings = offline::load_settings({});
  const auto library = settings ? l4::faults::Library::load(settings->faults)
                                : Result<l4::faults::Library>(std::unexpected(settings.error()));
  if (library)
    beside.near = near_to(report, *library);
  else
    terminal::fail({"the file lacks the nearest known faults", library.error().text()},
                   terminal::kDone, program);
  return beside;
}

Beside fetch_beside(const ask::Aggregator& asked, const diagnose::Report& report,
                    const std::string& incident, std::string_view program) {
  Beside beside;
  const auto say = [&](const char* what, const ask::Failure& why) {
    terminal::fail({what, why.error.text()}, terminal::kDone, program);
  };
  if (const auto map = fetch_map(asked, report, beside); !map) {
    beside.scores.clear();
    say("the file has no map", map.error());
  } else if (const auto terms = fetch_terms(asked, report, beside); !terms) {
    say("the file lacks the terms of some scores", terms.error());
  }
  if (!incident.empty()) {
    auto near = fetch_json(
        asked, fmt::format("/api/v1/incidents/{}/near_faults", http::percent_encoded(incident)));
    if (near)
      beside.near = std::move(*near);
    else
      say("the file lacks the nearest known faults", near.error());
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
    say("the file lacks raw lines", lines.error());
    break;
  }
  return beside;
}

std::string html_of(diagnose::Report report, const Beside& beside, std::size_t top) {
  for (std::size_t i = 0; i < std::min(report.events.size(), beside.lines.size()); ++i)
    if (report.events[i].examples.empty()) report.events[i].examples = beside.lines[i];
  const auto blot = blotter();
  serve::change_texts(report, blot);
  handout::Contents contents;
  contents.title = report.job.id;
  serve::TextStyle style;
  style.top = top;
  contents.text = serve::to_text(report, style);
  contents.report = serve::to_json(report);
  contents.scores = beside.scores;
  contents.nodes = beside.nodes;
  std::size_t bytes = 0;
  for (const std::string& one : beside.terms) {
    std::string terms = handout::brief_terms(one, blot);
    bytes += terms.size();
    if (bytes > kTermBytesMax) break;
    if (!terms.empty()) contents.terms.push_back(std::move(terms));
  }
  contents.near = handout::changed_json(beside.near, blot);
  return handout::one_file(contents);
}

int write_html(const diagnose::Report& report, const Beside& beside, std::size_t top,
               const std::filesystem::path& html, std::string_view program) {
  if (html.empty()) return terminal::kDone;
  return terminal::write_whole(html_of(report, beside, top), html, program);
}

}  // namespace l4::commands
