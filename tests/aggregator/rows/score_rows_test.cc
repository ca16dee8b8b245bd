// The JSON of a matrix of scores: base64, bounds, left out rows.
#include "aggregator/rows/score_rows.h"

#include <doctest/doctest.h>

#include <string>

#include "aggregator/serve/json_value.h"

namespace l4::rows {
namespace {

std::string text_of(const scores::Matrix& matrix) {
  serve::JsonWriter text;
  write(text, "job-1", matrix);
  return text.release();
}

TEST_CASE("scores: cells are base64, a byte a column") {
  scores::Matrix matrix;
  matrix.what = scores::What::phases;
  matrix.begins = {5, 6, 7, 8};
  matrix.end = 9;
  matrix.rows.push_back({"node-1", Rank{3}, "data \"load\"", {0, 1, 254, 255}});
  matrix.left_out = 2;
  matrix.course.push_back({"data \"load\"", {1.25, std::nullopt}, {3, std::nullopt}});
  const auto read = serve::parse_json(text_of(matrix));
  REQUIRE(read);
  const serve::JsonValue& row = read->find("rows")->list()->front();
  CHECK(*row.find("cells")->text() == "AAH+/w==");
  CHECK(*row.find("phase")->text() == "data \"load\"");
  CHECK(row.find("rank")->integer<int>() == 3);
  CHECK(read->find("columns")->list()->back().integer<int>() == 8);
  CHECK(read->find("step")->number() == 0.02);
  CHECK(read->find("left_out")->integer<int>() == 2);
  const serve::JsonValue& course = read->find("course")->list()->front();
  CHECK(*course.find("phase")->text() == "data \"load\"");
  CHECK(course.find("mean_ms")->list()->front().number() == 1.25);
  CHECK(course.find("most_ms")->list()->back().is_null());
}

TEST_CASE("scores: columns of time are times, and a row without a rank has null") {
  scores::Matrix matrix;
  matrix.by_time = true;
  matrix.begins = {1'700'000'000'000};
  matrix.end = 1'700'000'010'000;
  matrix.rows = {{"node-1", std::nullopt, "", {4, 5}}};
  const auto read = serve::parse_json(text_of(matrix));
  REQUIRE(read);
  CHECK(*read->find("columns")->list()->front().text() == "2023-11-14T22:13:20.000Z");
  CHECK(*read->find("end")->text() == "2023-11-14T22:13:30.000Z");
  CHECK(read->find("rows")->list()->front().find("rank")->is_null());
  CHECK(read->find("rows")->list()->front().find("phase")->is_null());
  CHECK(*read->find("rows")->list()->front().find("cells")->text() == "BAU=");
  matrix.begins.clear();
  CHECK(serve::parse_json(text_of(matrix))->find("end")->is_null());
}

TEST_CASE("scores: an answer has at most 4 MiB, and says how many rows it lacks") {
  scores::Matrix matrix;
  matrix.begins.assign(1000, 1);
  matrix.rows.assign(4000, {"node-with-a-name", Rank{1}, "", std::vector<scores::Score>(1000, 9)});
  const std::string text = text_of(matrix);
  CHECK(text.size() <= kScoreBytesMax);
  CHECK(text.size() > kScoreBytesMax - 3000);
  const auto read = serve::parse_json(text);
  REQUIRE(read);
}

TEST_CASE("scores: names of the kinds") {
  CHECK(what_of("nodes") == scores::What::nodes);
  CHECK(what_of("phases") == scores::What::phases);
  CHECK_FALSE(what_of("Nodes"));
  CHECK_FALSE(what_of(""));
}

}  // namespace
}  // namespace l4::rows
