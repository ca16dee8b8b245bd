#include "tools/l4/commands/inspect_view.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "aggregator/serve/utf8.h"

namespace l4::commands {
namespace {

Survey survey_of_one(const std::string& name) {
  Survey survey;
  survey.job = "job-7";
  SurveyedFile file;
  file.facts.name = name;
  file.facts.node = "node-00";
  file.facts.time_format = "iso";
  file.facts.lines = 1234;
  file.facts.lines_with_time = 1233;
  file.facts.ranks = {Rank{0}, Rank{1}, Rank{2}, Rank{7}};
  file.facts.iteration_marker = "iteration <*> | " + std::string(300, 'x');
  file.kind = wire::SourceKind::merged;
  survey.files.push_back(file);
  survey.frameworks = {"megatron"};
  return survey;
}

TEST_CASE("inspect: no line is wider than asked, and what counts is there") {
  const std::string text = to_text(survey_of_one(std::string(200, 'd') + "/rank0.log"), 110);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(serve::cells(line) <= 110);
  for (const char* part : {"/rank0.log", "node-00", "merged", "0-2,7", "1,234", "99 %", "iso",
                           "1 file, 1 node, 4 ranks", "frameworks: megatron"})
    CHECK_MESSAGE(text.find(part) != text.npos, part);
}

TEST_CASE("inspect: JSON is whole, whatever the logs hold") {
  const std::string json = to_json(survey_of_one("\xff\x1b[31m.log"));
  CHECK(json.find("\"schema\": \"l4.inspect/1\"") != json.npos);
  CHECK(json.find('\x1b') == json.npos);
}

}  // namespace
}  // namespace l4::commands
