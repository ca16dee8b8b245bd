#include "tools/l4/commands/local/local.h"

#include <doctest/doctest.h>

#include "tests/temp_folder.h"

namespace l4::commands::local {
namespace {

TEST_CASE("local sources: absolute paths; a typo is answered with what is there") {
  const test::TempFolder folder;
  folder.file("rank0.log", "x");
  const auto from = folder.path();
  const auto sources = sources_of({"rank0.log", ".", "/tmp/*/later.log", "runs*"}, from);
  REQUIRE(sources.has_value());
  CHECK(*sources == std::vector<std::string>{(from / "rank0.log").string(), from.string(),
                                             "/tmp/*/later.log", (from / "runs*").string()});
  CHECK(sources_of({".", from.string(), "./x/.."}, from).value() ==
        std::vector<std::string>{from.string()});
  CHECK_FALSE(sources_of({""}, from).has_value());
  const auto typo = sources_of({"rank0.lgo"}, from);
  REQUIRE_FALSE(typo.has_value());
  CHECK(typo.error().text().contains("rank0.log"));
  CHECK(sources_of({"nothing/like/it"}, from).error().text().contains("does not exist"));
}

}  // namespace
}  // namespace l4::commands::local
