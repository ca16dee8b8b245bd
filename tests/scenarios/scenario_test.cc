// Every *.scenario file: bytes in, report out. L4_SCENARIO=NAME plays just those whose name holds
// NAME and prints their reports.
#include "tests/scenarios/scenario.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "aggregator/serve/report_text.h"
#include "tests/scenarios/play.h"
#include "tests/temp_folder.h"

namespace l4::scenario {
namespace {

using l4::test::TempFolder;

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(L4_SOURCE_DIR "/tests/scenarios"))
    if (entry.path().extension() == ".scenario") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

void judge(const Scenario& scenario, const diagnose::Report& report) {
  const std::string file = scenario.path.string();
  for (const Expectation& expectation : scenario.expectations) {
    const auto wrong = expectation.check(report);
    const std::string what =
        fmt::format("expect {}: {}", expectation.text, wrong.value_or("so it is"));
    if (expectation.weight == Weight::must) {
      if (wrong) ADD_FAIL_CHECK_AT(file.c_str(), expectation.line, what);
    } else if (expectation.weight == Weight::known_wrong) {
      const std::string told = (wrong ? "known to be wrong: " : "no longer wrong: ") + what;
      ADD_MESSAGE_AT(file.c_str(), expectation.line, told);
    } else if (wrong) {
      ADD_MESSAGE_AT(file.c_str(), expectation.line, ("not yet: " + what));
    }
  }
  if (!scenario.healthy_twin) return;
  // A finding here is a false alarm.
  const bool told = std::ranges::any_of(scenario.expectations, [](const Expectation& expectation) {
    return expectation.weight == Weight::known_wrong;
  });
  if (told) return;
  const State state = report.verdict.state;
  const std::string said =
      fmt::format("{}, {} events: {}", name(state), report.events.size(), report.verdict.summary);
  if ((state != State::healthy && state != State::finished) || report.events.size() > 2)
    ADD_FAIL_CHECK_AT(file.c_str(), 1, ("a healthy job is said to be " + said));
}

TEST_CASE("what happened in each scenario is what the report says") {
  const char* only = std::getenv("L4_SCENARIO");
  std::size_t played = 0;
  for (const auto& path : scenario_files()) {
    if (only != nullptr && path.stem().string().find(only) == std::string::npos) continue;
    const auto scenario = read_scenario(path);
    if (!scenario) {
      FAIL_CHECK(scenario.error().text());
      continue;
    }
    const TempFolder folder;
    const auto diagnosis = play(*scenario, folder.path());
    if (!diagnosis) {
      FAIL_CHECK(path.string() << ": " << diagnosis.error().text());
      continue;
    }
    ++played;
    judge(*scenario, diagnosis->report);
    if (only != nullptr) MESSAGE(scenario->name << "\n" << serve::to_text(diagnosis->report, {}));
  }
  MESSAGE(played, " scenarios");
}

TEST_CASE("each faulty scenario has a healthy twin") {
  const auto files = scenario_files();
  CHECK(files.size() >= 20);
  for (const auto& path : files) {
    const std::string stem = path.stem().string();
    if (stem.ends_with("-healthy")) continue;
    CAPTURE(stem);
    // Variants of one fault share its twin: crash-one-rank, crash-one-rank.untimed.
    const std::string fault = stem.substr(0, stem.find('.'));
    CHECK(std::filesystem::exists(path.parent_path() / (fault + "-healthy.scenario")));
  }
}

TEST_CASE("a bad scenario is refused with file and line") {
  const TempFolder folder;
  const auto error_of = [&](const std::string& content) {
    const auto path = folder.file("bad.scenario", content);
    const auto read = read_scenario(path);
    const std::string text = read ? "read" : read.error().text();
    return text.starts_with(path.string()) ? text.substr(path.string().size()) : text;
  };
  const std::string good = "at 0s..9s every rank iterates\nexpect state healthy\n";
  CHECK(error_of(good) == "read");
  CHECK(error_of("") == ": nothing happens in it");
  CHECK(error_of("at 1s rank 0 stops\n") == ": nothing is expected of it");
  CHECK(error_of(good + "expect state fine\n") == ":3: 'fine' is not one of its words");
  CHECK(error_of(good + "expect luck\n") == ":3: 'luck' cannot be expected");
  CHECK(error_of(good + "expect events about 2\n") == ":3: a comparison such as <= 2 is missing");
  CHECK(error_of(good + "expect rank 1 first really\n") == ":3: 'really' is too much");
  CHECK(error_of("nodes 2\n\nat 1s rank 9 stops\n" + good) == ":3: '9' is no list within 0-3");
  CHECK(error_of("at 1s node-7 stops\n") == ":1: 'node-7' is nobody of this job");
  CHECK(error_of("at noon rank 1 stops\n") == ":1: 'noon' is no time such as 61s or 0s..60s");
  CHECK(error_of("at 1s rank 1 dances\n") == ":1: nobody can 'dances'");
  CHECK(error_of("at 1s rank 1 says loudly \"x\"\n") == ":1: 'loudly' is no level");
  CHECK(error_of("at 1s rank 1 says \"x\n") == ":1: a quote is not closed");
  CHECK(error_of(good + "nodes 2\n") == ":3: the head comes before all steps");
  CHECK(error_of("weather fine\n") == ":1: 'weather' begins no line");
  CHECK(read_scenario(folder.path() / "none").error().reason == "cannot be read");
}

TEST_CASE("a scenario gives the same bytes each time") {
  const TempFolder folder;
  const auto path = folder.file("a.scenario",
                                "nodes 2\nat 0s..9s every rank iterates\n"
                                "at 3s rank 2 says error \"broke at {k} on {node}, {x}\"\n"
                                "at 4500ms node-0 stops\nexpect state hung\n");
  const auto scenario = read_scenario(path);
  REQUIRE(scenario);
  const auto text_of = [&](const char* run, const char* file) {
    write_logs(*scenario, scenario->job, folder.path() / run);
    std::ifstream in(folder.path() / run / file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  for (const char* file : {"node-0/rank1.log", "node-1/rank2.log"})
    CHECK(text_of("one", file) == text_of("two", file));
  const std::string silent = text_of("one", "node-0/rank1.log");
  CHECK(std::ranges::count(silent, '\n') == 5);
  CHECK(text_of("one", "node-1/rank2.log").find(" ERROR broke at 4 on node-1, ") !=
        std::string::npos);
}

}  // namespace
}  // namespace l4::scenario
