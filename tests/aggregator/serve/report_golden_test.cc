// Each case is golden/NAME.json, a report in its canonical form, and golden/NAME.txt, the same
// report as text. L4_UPDATE_GOLDEN=1 rewrites both: read the difference before committing it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "aggregator/serve/report_json.h"
#include "aggregator/serve/report_text.h"
#include "aggregator/serve/utf8.h"

using namespace l4;
using namespace l4::serve;

namespace {

constexpr std::string_view kCases[] = {"crashed", "hung",    "launch_failed", "node_lost",
                                       "slow",    "healthy", "finished",      "several_nodes",
                                       "hostile", "unknown", "nothing_read"};
constexpr std::size_t kScreenLines = 50;

std::string path_of(std::string_view name, std::string_view kind) {
  return std::string(L4_SOURCE_DIR "/tests/aggregator/serve/golden/") + std::string(name) +
         std::string(kind);
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool updating() {
  const char* wish = std::getenv("L4_UPDATE_GOLDEN");
  return wish != nullptr && std::string_view(wish) == "1";
}

void check_golden(const std::string& path, const std::string& actual) {
  if (updating()) std::ofstream(path, std::ios::binary) << actual;
  INFO(path, ", written anew with L4_UPDATE_GOLDEN=1");
  CHECK(read(path) == actual);
}

diagnose::Report report_of(std::string_view name) {
  auto report = report_from_json(read(path_of(name, ".json")));
  if (!report) FAIL(name, ": ", report.error().text());
  return *std::move(report);
}

std::string without_colours(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = std::min(text.find('m', i), text.size());
    else
      plain += text[i];
  }
  return plain;
}

}  // namespace

TEST_CASE("report: golden files") {
  for (const std::string_view name : kCases) {
    INFO(std::string(name));
    const diagnose::Report report = report_of(name);
    check_golden(path_of(name, ".json"), to_json(report));
    check_golden(path_of(name, ".txt"), to_text(report, {}));
  }
}

TEST_CASE("report text: one screen, no line wider than asked, nothing that acts") {
  for (const std::string_view name : kCases) {
    const diagnose::Report report = report_of(name);
    for (const std::size_t width : {60, 79, 100, 180}) {
      const std::string text = to_text(report, {.color = false, .width = width});
      INFO(std::string(name), " at width ", width);
      std::istringstream lines(text);
      std::size_t count = 0;
      for (std::string line; std::getline(lines, line); ++count) {
        INFO(line);
        CHECK(cells(line) <= width);
        CHECK(harmless(line) == line);
        CHECK_FALSE(line.ends_with(' '));
      }
      if (width >= 100) CHECK(count <= kScreenLines);
    }
  }
}

TEST_CASE("report text: colours add nothing but colours") {
  for (const std::string_view name : kCases) {
    const diagnose::Report report = report_of(name);
    const std::string coloured = to_text(report, {.color = true, .width = 100});
    CHECK(coloured.find("\x1b[") != std::string::npos);
    CHECK(without_colours(coloured) == to_text(report, {.color = false, .width = 100}));
  }
}

TEST_CASE("report text: a claim that is not sure names what may be so, and what would tell") {
  diagnose::Report report = report_of("crashed");
  CHECK_FALSE(to_text(report, {.width = 200}).contains("To decide"));
  using enum diagnose::clues::Claim;
  report.certainty = {
      {state, "hung", 0.5, {}, {{"hung", 0.5}, {"node_lost", 0.5}}, {"stderr of rank 3"}},
      {node, "node_1", 0.7, {}, {{"node_1", 0.7}, {std::nullopt, 0.3}}, {"kernel log of node_1"}},
      {event, "00000000000000ab", 0.95, {}, {}, {}}};
  const std::string text = to_text(report, {.width = 200});
  CHECK(text.contains("the state: hung 50 %, node lost 50 %. To decide: stderr of rank 3"));
  CHECK(text.contains(
      "which node: node_1 70 %, something else 30 %. To decide: kernel log of node_1"));
  CHECK_FALSE(text.contains("whether the first event"));
}

TEST_CASE("report text: times past all calendars do no harm") {
  diagnose::Report report = report_of("crashed");
  report.job.begin = TimeMs::min();
  report.job.end = TimeMs::max();
  report.verdict.since = TimeMs::min();
  report.stages = {{Stage::init, TimeMs::min(), TimeMs::max(), 1},
                   {Stage::training, TimeMs::max(), TimeMs::min(), 1}};
  CHECK(to_text(report, {}).find("CRASHED") == 0);
}

TEST_CASE("report text: the number of list elements is a choice") {
  const diagnose::Report report = report_of("several_nodes");
  const std::string one = to_text(report, {.top = 1});
  CHECK(one.find("and 8 more nodes") != std::string::npos);
  CHECK(one.find("and 9 more events") != std::string::npos);
  const std::string all = to_text(report, {.top = 100});
  CHECK(all.find("node-0028") != std::string::npos);
  CHECK(all.find("more node") == std::string::npos);
}
