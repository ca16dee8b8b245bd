#include "aggregator/serve/report_texts.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "aggregator/serve/report_json.h"

namespace l4::serve {
namespace {

diagnose::Report report_saying(const std::string& text) {
  diagnose::Report report;
  report.job.id = text;
  report.verdict.summary = text;
  report.nodes = {{text, 1, 1, {}, {}, {text, text}, {}}};
  diagnose::IndicatingEvent event;
  event.text = text;
  event.nodes = {text};
  event.first.node = text;
  event.parameters = {{wire::ParameterKind::path, text, 1}};
  event.examples = {{text, {}, text, 7, text}};
  report.events = {event};
  report.advice = text;
  report.clues.emplace_back();
  report.clues.back().text = text;
  report.clues.back().facts.emplace_back().value = text;
  return report;
}

TEST_CASE("report texts: each text of the report is changed, and nothing else") {
  diagnose::Report report = report_saying("secret");
  change_texts(report, [](std::string& text) {
    if (text == "secret") text = "gone";
  });
  CHECK(to_json(report) == to_json(report_saying("gone")));
}

TEST_CASE("report texts: they come in the order of the JSON") {
  std::vector<std::string> seen;
  diagnose::Report report;
  report.version = "v";
  report.job.id = "job";
  report.verdict.summary = "sentence";
  change_texts(report, [&](std::string& text) {
    if (!text.empty()) seen.push_back(text);
  });
  REQUIRE(seen.size() >= 3);
  CHECK(seen.front() == "v");
  CHECK(seen[seen.size() - 2] == "job");
  CHECK(seen.back() == "sentence");
}

}  // namespace
}  // namespace l4::serve
