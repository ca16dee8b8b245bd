// The nearest known faults of a failure, as the page and a file get them.
#include "aggregator/rows/near_rows.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "aggregator/serve/json_value.h"

namespace l4::rows {
namespace {

faults::Library shipped_library() {
  auto loaded = faults::Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(loaded);
  return std::move(*loaded);
}

diagnose::IndicatingEvent event(const char* text, Role role) {
  diagnose::IndicatingEvent made;
  made.id = TemplateId{7};
  made.text = text;
  made.role = role;
  return made;
}

std::vector<std::string> faults_near(
    const diagnose::Report& report, const faults::Library& library,
    const std::function<bool(const faults::Fault&)>& may_see = {}) {
  serve::JsonWriter text;
  write_near_faults(text, report, library, may_see);
  const auto json = serve::parse_json(text.release());
  REQUIRE(json);
  std::vector<std::string> ids;
  double before = 1;
  for (const serve::JsonValue& one : *json->find("faults")->list()) {
    ids.push_back(*one.find("fault")->find("id")->text());
    CHECK_FALSE(one.find("shared")->list()->empty());
    CHECK(*one.find("likeness")->number() <= before);
    before = *one.find("likeness")->number();
  }
  return ids;
}

TEST_CASE("near rows: three faults, each once, nearest first") {
  const faults::Library library = shipped_library();
  diagnose::Report report;
  for (const char* text : {"CUDA out of memory while allocating",
                           "NCCL watchdog timeout of a collective", "CUDA out of memory again"})
    report.events.push_back(event(text, Role::direct));
  const auto ids = faults_near(report, library);
  REQUIRE(ids.size() == 3);
  CHECK(std::set(ids.begin(), ids.end()).size() == 3);
  const auto rest =
      faults_near(report, library, [&](const faults::Fault& fault) { return fault.id != ids[0]; });
  REQUIRE(rest.size() == 3);
  CHECK(rest[0] == ids[1]);
}

TEST_CASE("near rows: consequences are no ground, and no event has none") {
  const faults::Library library = shipped_library();
  diagnose::Report report;
  CHECK(faults_near(report, library).empty());
  report.events.push_back(event("CUDA out of memory while allocating", Role::consequence));
  CHECK(faults_near(report, library).empty());
  report.events.push_back(event("zyxwv qponm lkjih", Role::root));
  CHECK(faults_near(report, library).empty());
}

}  // namespace
}  // namespace l4::rows
