#include "tools/l4/commands/report_file.h"

#include <doctest/doctest.h>

#include <string>

#include "aggregator/faults/library.h"
#include "tests/aggregator/scores/slow_once.h"

namespace l4::commands {
namespace {

const std::string kSecret = "password=hunter2-and-more";

diagnose::Report report_with(const std::string& line) {
  diagnose::Report report;
  report.job.id = "job-7";
  report.verdict.state = State::crashed;
  report.verdict.summary = "The job crashed.";
  diagnose::IndicatingEvent event;
  event.id = TemplateId{7};
  event.text = "cannot log in <*>";
  event.role = Role::root;
  event.examples = {{"n1", {}, "n1/rank0.log", 3, line}};
  report.events = {event};
  return report;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("report file: it holds the report, its lines and its text") {
  const std::string html = html_of(report_with("cannot log in at line 3"), {}, 8);
  CHECK(has(html, "\"id\": \"job-7\""));
  CHECK(has(html, "cannot log in at line 3"));
  CHECK(has(html, "<pre class=\"text\">\nCRASHED · job-7"));
}

TEST_CASE("report file: secrets are blotted out of what is handed on") {
  const std::string html = html_of(report_with("cannot log in with " + kSecret), {}, 8);
  CHECK_FALSE(has(html, "hunter2"));
  CHECK(has(html, "[redacted]"));
}

TEST_CASE("report file: a long line does not make a large file") {
  const std::string plain = html_of(report_with("short"), {}, 8);
  const std::string html = html_of(report_with(std::string(90'000, 'x')), {}, 8);
  CHECK(html.size() < plain.size() + 5'000);
  CHECK(has(html, "xxx…\""));
}

TEST_CASE("report file: lines that were asked for stand where the report has none") {
  diagnose::Report report = report_with("own line");
  report.events.push_back(report.events.front());
  report.events.back().examples.clear();
  Beside beside;
  beside.lines = {{{"n1", {}, "f", 1, "not shown"}}, {{"n2", {}, "f", 2, "asked " + kSecret}}};
  const std::string html = html_of(report, beside, 8);
  CHECK(has(html, "own line"));
  CHECK_FALSE(has(html, "not shown"));
  CHECK(has(html, "asked [redacted]"));
}

TEST_CASE("report file: why the first suspects stand out, without secrets, and not without end") {
  Beside beside;
  const std::string head =
      R"({"what": "nodes", "laps": [], "left_out": 0, "left_out_score": 0, "lines": [)";
  for (int i = 0; i < 3; ++i)
    beside.terms.push_back(head + R"({"template": "term )" + std::to_string(i) + " " + kSecret +
                           R"(", "nats": 2}]})");
  beside.near = R"({"faults": [{"template": "near )" + kSecret + R"("}]})";
  const std::string html = html_of(report_with("own line"), beside, 8);
  for (const char* part : {"term 0 [redacted]", "term 2 [redacted]", "near [redacted]"})
    CHECK_MESSAGE(has(html, part), std::string(part));
  CHECK_FALSE(has(html, "hunter2"));
  const std::string plain = html_of(report_with("own line"), {}, 8);
  beside.terms.assign(1'000, head + R"({"template": ")" + std::string(4'000, 'x') + R"("}]})");
  CHECK(html_of(report_with("own line"), beside, 8).size() < plain.size() + kTermBytesMax + 1'000);
}

TEST_CASE("report file: of a kept report the nearest faults of the library are known") {
  diagnose::Report report = report_with("own line");
  report.events.front().text = "CUDA out of memory while allocating <*>";
  const Beside beside = beside_of(report, "l4 show");
  CHECK(has(beside.near, "\"likeness\""));
  CHECK(has(html_of(report, beside, 8), "\"likeness\""));
  CHECK(beside.terms.empty());
}

TEST_CASE("report file: the terms of a job that was read are of its suspects' worst cells") {
  job::test::MadeJob made = scores::test::slow_once(true);
  diagnose::Report report = report_with("own line");
  report.job.nodes = 4;
  for (const char* node : {"node-2", "node-3"}) {
    diagnose::SuspectNode suspect;
    suspect.node = node;
    report.nodes.push_back(suspect);
  }
  const Beside beside = beside_of(made.state(), report, l4::faults::Library());
  REQUIRE(beside.scores.size() == 3);
  bool slow = false, talks = false;
  for (const std::string& terms : beside.terms) {
    slow |= has(terms, R"("what": "ranks")") && has(terms, R"("iteration": 80)");
    talks |= has(terms, "link flap observed");
    CHECK((has(terms, R"("node": "node-2")") || has(terms, R"("node": "node-3")")));
  }
  CHECK(slow);
  CHECK(talks);
}

TEST_CASE("report file: it shows one report, in a folder that is there") {
  CHECK(check_html({}, "before.json"));
  CHECK_FALSE(check_html("report.html", "before.json"));
  CHECK_FALSE(check_html("/no/such/folder/report.html", ""));
}

}  // namespace
}  // namespace l4::commands
