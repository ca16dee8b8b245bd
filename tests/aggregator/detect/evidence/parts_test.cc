// Names of the parts that a diagnosis can do without.
#include "aggregator/detect/evidence/parts.h"

#include <doctest/doctest.h>

namespace l4::detect {
namespace {

TEST_CASE("a list names parts, and none is needed") {
  const auto parts = parse_parts("library,cross-job");
  REQUIRE(parts);
  CHECK(parts->has(Part::library));
  CHECK(parts->has(Part::cross_job));
  CHECK_FALSE(parts->has(Part::wording));
  REQUIRE(parse_parts(""));
  CHECK_FALSE(parse_parts("")->has(Part::library));
}

TEST_CASE("each part has a name that is read") {
  std::string names = part_names();
  std::erase(names, ' ');
  const auto all = parse_parts(names);
  REQUIRE(all);
  for (const Part part : {Part::wording, Part::library, Part::forest, Part::dtw, Part::durations,
                          Part::cross_job, Part::accusations, Part::processes})
    CHECK(all->has(part));
}

TEST_CASE("an unknown name is an error that lists the known ones") {
  for (const char* list : {"words", "library,,dtw", " library", "Library"}) {
    const auto parts = parse_parts(list);
    REQUIRE_FALSE(parts);
    CHECK(parts.error().reason.find("wording, library, forest") != std::string::npos);
  }
}

}  // namespace
}  // namespace l4::detect
