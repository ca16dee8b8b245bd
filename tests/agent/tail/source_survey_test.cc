#include "agent/tail/source_survey.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/temp_folder.h"

namespace l4::tail {
namespace {

namespace fs = std::filesystem;

std::string at(const test::TempFolder& folder, const char* below) {
  return (folder.path() / below).string();
}

SurveyedSource surveyed(const std::string& pattern) {
  const auto rows = survey_sources({pattern}, {});
  REQUIRE(rows.has_value());
  return rows->at(0);
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("source survey: logs are counted, other files and those of other patterns are not") {
  const test::TempFolder folder;
  fs::create_directories(folder.path() / "job-1" / "node-0");
  fs::create_directories(folder.path() / "job-2");
  folder.file("job-1/node-0/rank0.log", "step 1\n");
  folder.file("job-1/node-0/rank0.log.1", "step 0\n");
  folder.file("job-1/node-0/weights.pt", "x");
  folder.file("job-2/rank1.out", "step 1\n");
  fs::last_write_time(folder.path() / "job-1/node-0/rank0.log.1",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::last_write_time(folder.path() / "job-2/rank1.out",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  const SurveyedSource all = surveyed(folder.path().string());
  CHECK(all.files == 3);
  CHECK(all.others == 1);
  CHECK(all.newest == at(folder, "job-1/node-0/rank0.log"));
  CHECK(all.hint.empty());
  CHECK(surveyed(at(folder, "job-*/*.out")).files == 1);
  CHECK(surveyed(at(folder, "**/*.log")).files == 2);
  CHECK(surveyed(at(folder, "job-2/rank1.out")).files == 1);
  CHECK(survey_sources({folder.path().string()}, {at(folder, "job-1")})->at(0).files == 1);
  CHECK_FALSE(survey_sources({"var/log"}, {}).has_value());
}

TEST_CASE("source survey: a pattern without a log says what stands nearest") {
  const test::TempFolder folder;
  fs::create_directories(folder.path() / "training" / "empty");
  folder.file("training/rank0.out", "step 1\n");
  folder.file("training/model.safetensors", "x");
  const std::string base = folder.path().string();
  CHECK(surveyed(base + "/trainig").hint ==
        "there is no " + base + "/trainig; " + base + "/training is there");
  CHECK(surveyed(base + "/nowhere-at-all/x").hint ==
        "there is no " + base + "/nowhere-at-all; " + base + " holds training");
  CHECK(surveyed(base + "/training/*.log").hint ==
        "nothing in " + base +
            "/training matches *.log; it holds empty, model.safetensors, "
            "rank0.out");
  CHECK(surveyed(base + "/job-*/x.log").hint ==
        "nothing in " + base + " matches job-*; it holds training");
  CHECK(surveyed(base + "/training/empty").hint == base + "/training/empty is empty");
  CHECK(
      says(surveyed(base + "/training/model*").hint, "model.safetensors is there, but looks like"));
  CHECK(says(surveyed(base + "/**/*.txt").hint, base + " holds training, and no log"));
}

}  // namespace
}  // namespace l4::tail
