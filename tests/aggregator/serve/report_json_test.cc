#include "aggregator/serve/report_json.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>

using namespace l4;
using namespace l4::serve;
using diagnose::Report;

namespace {

const TimeMs kNoon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} +
                   std::chrono::hours{12}};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

diagnose::IndicatingEvent event_with_everything() {
  diagnose::IndicatingEvent event;
  event.id = TemplateId{0x00ab};
  event.text = "NCCL WARN <*> : remote process exited";
  event.role = Role::root;
  event.score = 0.98765432;
  event.confidence = 0.875;
  event.count = 3;
  event.nodes = {"n1", "n2"};
  event.ranks = {Rank{8}, Rank{9}};
  event.first = {kNoon, "n1", Rank{8}};
  event.stage = Stage::training;
  event.iteration = Iteration{1207};
  event.level = Level::error;
  event.why = {diagnose::Why::fresh, diagnose::Why::stall};
  event.parameters = {{wire::ParameterKind::errno_value, "110", 3}};
  event.examples = {{"n1", Rank{8}, "n1/rank8.log", 4711, "NCCL WARN 17 : remote process exited"}};
  return event;
}

Report full_report() {
  Report report;
  report.version = "0.1.0";
  report.job = {
      "llama", 2,        {{1, State::crashed, kNoon, Iteration{7}}, {2, State::hung, {}, {}}},
      2,       16,       18,
      1000,    1u << 20, kNoon,
      kNoon,   0.99999};
  report.verdict = {State::hung, Scope::rank,          kNoon, Stage::training, Iteration{1207},
                    0.8,         "Rank 8 fell silent."};
  report.nodes = {{"n1", 3.5, 0.75, {Rank{8}}, kNoon, {"silent first"}, {TemplateId{0x00ab}}}};
  report.ranks = {{Rank{8}, RankSource::env, "n1", 1, kNoon, diagnose::Process::gone, {"silent"}},
                  {{}, RankSource::none, "n1", 0, {}, diagnose::Process::unknown, {}}};
  report.events = {event_with_everything()};
  report.iterations = {{Iteration{1207}, 4.25, kNoon, {}, {"n1"}, {TemplateId{0x00ab}}}};
  report.stages = {{Stage::training, kNoon, {}, 16}, {}};
  report.faults = {{"nccl-peer", "A peer left", "network", 0.5, "why", "do", {TemplateId{1}}}};
  report.pool = {true, 3, 412};
  report.warnings = {{"unreadable", "n2/rank9.log", "permission denied", 10}};
  report.notable = {{"loss_not_finite",
                     {},
                     Rank{8},
                     Iteration{130},
                     {},
                     diagnose::Printed{kNaN},
                     diagnose::Printed{2.5e-7},
                     71,
                     "lm loss is NaN from iteration 130 on"}};
  report.advice = "Replace n1.";
  report.clues = {
      {diagnose::clues::ClueKind::process_gone,
       "n1",
       Rank{8},
       0.5,
       {{diagnose::clues::FactKind::exit, "code 1"}, {diagnose::clues::FactKind::peer, "rank 9"}},
       "rank 8 left first"}};
  report.evidence = {{"files", {}, diagnose::Reply::answered, 18, ""},
                     {"files", "n2", diagnose::Reply::refused, 1, "permission denied"}};
  report.read.files = 18;
  report.read.understood = {1000, 0.875, 1.0, {}, {"iso"}, {"megatron"}, 3, 1};
  report.read.sources = {{"n1/rank8.log",
                          "n1",
                          {100, 0.0, 1.0, 0.5, {}, {}, 3, 1},
                          "iteration <*>",
                          "its number rises by 1",
                          {"12 lines are no text"}}};
  report.certainty = {{diagnose::clues::Claim::node,
                       "n1",
                       0.75,
                       {{"margin", 0.5}, {"many", 0.6931}},
                       {{"n1", 0.75}, {std::nullopt, 0.25}},
                       {"kernel log of n1"}}};
  return report;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& json) {
  const auto report = report_from_json(json);
  REQUIRE_FALSE(report.has_value());
  return report.error().text();
}

}  // namespace

TEST_CASE("report json: reading and writing are inverse") {
  const std::string json = to_json(full_report());
  const auto report = report_from_json(json);
  if (!report) FAIL(report.error().text());
  CHECK(to_json(*report) == json);
  const std::string empty = to_json(Report{});
  CHECK(to_json(report_from_json(empty).value()) == empty);
}

TEST_CASE("report json: spelling") {
  const std::string json = to_json(full_report());
  const auto has = [&](std::string_view text) { return json.find(text) != std::string::npos; };
  CHECK(json.starts_with("{\n  \"schema\": \"l4.report/2\",\n  \"generator\": {\n"));
  CHECK(has("\"template_id\": \"00000000000000ab\""));
  CHECK(has("\"score\": 0.9877,"));
  CHECK(has("\"completeness\": 1\n"));
  CHECK(has("\"since\": \"2026-11-20T12:00:00.000Z\""));
  CHECK(has("\"why\": [\"new\", \"stall\"]"));
  CHECK(has("\"kind\": \"errno\""));
  CHECK(has("\"rank_source\": null"));
  CHECK(has("\"stage\": null"));
  CHECK(has("\"ranks\": [8, 9]"));
  CHECK(has("\"value\": \"NaN\",\n      \"usual\": 2.5e-07,"));
  CHECK(has("\"status\": \"refused\""));
  CHECK(has("\"iterated\": null"));
  CHECK(json.ends_with("\n}\n"));
}

TEST_CASE("report json: text of any bytes becomes valid UTF-8 without control characters") {
  Report report;
  report.verdict.summary = std::string("a\0b\x1b[31m\xff\xc3(\xed\xa0\x80\x7f\xc2\x9b \"\\\n", 21) +
                           "\xe2\x80\xae é 迭代 \xf3\xa0\x81\x81";
  const std::string json = to_json(report);
  CHECK(json.find("a\\u0000b\\u001b[31m\xef\xbf\xbd\xef\xbf\xbd(") != std::string::npos);
  CHECK(json.find("\\u007f\\u009b \\\"\\\\\\n\\u202e é 迭代 \\udb40\\udc41") != std::string::npos);
  for (const char c : json) CHECK((c == '\n' || (c >= 0 ? c >= 0x20 && c != 0x7f : true)));
  CHECK(to_json(report_from_json(json).value()) == json);
}

TEST_CASE("report json: numbers that JSON can not say") {
  Report report;
  report.verdict.confidence = std::numeric_limits<double>::quiet_NaN();
  report.verdict.since = TimeMs::max();
  report.job.begin = TimeMs::min();
  report.job.bytes = std::numeric_limits<std::uint64_t>::max();
  report.nodes.resize(1);
  report.nodes[0].score = -0.00001;
  const std::string json = to_json(report);
  CHECK(json.find("\"confidence\": 0,") != std::string::npos);
  CHECK(json.find("\"since\": null") != std::string::npos);
  CHECK(json.find("\"score\": 0,") != std::string::npos);
  CHECK(report_from_json(json).value().job.bytes == report.job.bytes);
}

TEST_CASE("report json: what is wrong is named by its path") {
  const std::string json = to_json(full_report());
  CHECK(error_of("{").starts_with("$: is not JSON"));
  CHECK(error_of("[]") == "$: must be an object");
  CHECK(error_of(replaced(json, "l4.report/2", "l4.report/3")) ==
        "$.schema: must be \"l4.report/2\" or \"l4.report/1\", not \"l4.report/3\"");
  CHECK(error_of(replaced(json, "\"NaN\"", "\"nan\"")) ==
        "$.notable[0].value: must be a number, \"NaN\", \"Infinity\" or \"-Infinity\", not "
        "\"nan\"");
  CHECK(error_of(replaced(json, "\"answered\"", "\"silent\"")) ==
        "$.evidence[0].status: is not a word of this list: \"silent\"");
  CHECK(error_of(replaced(json, "\"lines\": 1000", "\"lines\": -1")) ==
        "$.job.lines: is out of range: -1");
  CHECK(error_of(replaced(json, "\"lines\": 1000", "\"lines\": 1.5")) ==
        "$.job.lines: must be an integer, not 1.5");
  CHECK(error_of(replaced(json, "\"lines\": 1000,", "")) == "$.job.lines: is missing");
  CHECK(error_of(replaced(json, "\"lines\": 1000,", "\"lines\": 1000, \"more\": 1,")) ==
        "$.job.more: is not of this format");
  CHECK(error_of(replaced(json, "\"hung\"", "\"hanged\"")) ==
        "$.job.attempts[1].state: is not a word of this list: \"hanged\"");
  CHECK(error_of(replaced(json, "[8, 9]", "[8, -9]")) ==
        "$.events[0].ranks[1]: must not be negative: -9");
  CHECK(error_of(replaced(json, "00000000000000ab", "0000000000000AB")) ==
        "$.nodes[0].events[0]: must be 16 hexadecimal digits, not \"0000000000000AB\"");
  CHECK(error_of(
            replaced(json, "\"begin\": \"2026-11-20T12:00:00.000Z\"", "\"begin\": \"yesterday\""))
            .starts_with("$.job.begin: must be a time"));
}

TEST_CASE("report json: a report of the version before is read, and written as one of this") {
  std::ifstream file(L4_SOURCE_DIR "/tests/aggregator/serve/kept/version_1.json");
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(kept.starts_with("{\n  \"schema\": \"l4.report/1\","));
  const auto report = report_from_json(kept);
  if (!report) FAIL(report.error().text());
  CHECK(report->verdict.state == State::hung);
  CHECK(report->notable.empty());
  CHECK_FALSE(report->advice);
  CHECK_FALSE(report->read.understood.timed);
  const std::string written = to_json(*report);
  CHECK(written.find("\"schema\": \"l4.report/2\"") != std::string::npos);
  CHECK(to_json(report_from_json(written).value()) == written);
  // A field that this version brought is unknown to the one before, and needed in this one.
  CHECK(error_of(replaced(written, "l4.report/2", "l4.report/1")).starts_with("$.advice: is not"));
  CHECK(error_of(replaced(kept, "l4.report/1", "l4.report/2")) == "$.notable: is missing");
}

TEST_CASE("report json: what says how sure it is may be missing, and is not written where empty") {
  Report report = full_report();
  CHECK(to_json(report).contains("\"certainty\""));
  report.certainty.clear();
  report.events.front().confidence.reset();
  const std::string json = to_json(report);
  CHECK_FALSE(json.contains("certainty"));
  const auto read = report_from_json(json);
  REQUIRE(read);
  CHECK(read->certainty.empty());
  CHECK_FALSE(read->events.front().confidence);
  CHECK(to_json(*read) == json);
}

TEST_CASE("report json: numbers as printed keep all digits, and may be none") {
  for (const double value : {kNaN, kInfinity, -kInfinity, 0.0, -1.25e-300, 65504.0, 0.1}) {
    Report report;
    report.notable.resize(1);
    report.notable[0].value = diagnose::Printed{value};
    const auto again = report_from_json(to_json(report)).value().notable.at(0).value;
    REQUIRE(again);
    CHECK((again->number == value || (std::isnan(value) && std::isnan(again->number))));
  }
}

TEST_CASE("report json: mutated text never crashes the reader") {
  constexpr std::uint64_t kSeed = 20261120;
  INFO("seed ", kSeed);
  std::mt19937_64 random(kSeed);
  const std::string json = to_json(full_report());
  for (int i = 0; i < 2000; ++i) {
    std::string text = json;
    for (std::size_t k = 0; k <= random() % 3; ++k)
      text[random() % text.size()] = "0-9.e\"[]{},:nx\xff"[random() % 16];
    const auto report = report_from_json(text);
    if (!report) CHECK_FALSE(report.error().reason.empty());
  }
}
