// Written entries read back the same: the whole shipped library, and odd texts.
#include "aggregator/faults/fault_toml.h"

#include <doctest/doctest.h>

#include <string>

#include "aggregator/faults/library.h"
#include "aggregator/faults/library_reader.h"

namespace l4::faults {
namespace {

void check_same(const Fault& a, const Fault& b) {
  CAPTURE(a.id);
  CHECK(a.id == b.id);
  CHECK(a.title == b.title);
  CHECK(a.category == b.category);
  CHECK(a.subcategory == b.subcategory);
  CHECK(a.patterns == b.patterns);
  CHECK(a.unless == b.unless);
  CHECK(a.scope == b.scope);
  CHECK(a.severity == b.severity);
  CHECK(a.consequence == b.consequence);
  CHECK(a.general == b.general);
  CHECK(a.timeout == b.timeout);
  CHECK(a.setup == b.setup);
  CHECK(a.accuses_peer == b.accuses_peer);
  CHECK(a.stopped_by == b.stopped_by);
  CHECK(a.cause == b.cause);
  CHECK(a.fix == b.fix);
  CHECK(a.action == b.action);
  CHECK(a.matches == b.matches);
  CHECK(a.rejects == b.rejects);
  CHECK(a.confirmed == b.confirmed);
  REQUIRE(a.conditions.size() == b.conditions.size());
  for (std::size_t i = 0; i < a.conditions.size(); ++i) {
    CHECK(a.conditions[i].kind == b.conditions[i].kind);
    CHECK(a.conditions[i].values == b.conditions[i].values);
  }
}

TEST_CASE("a fault as TOML: the shipped library") {
  const auto library = Library::load(L4_SOURCE_DIR "/config/faults");
  REQUIRE(library);
  std::string text;
  for (const Fault& fault : library->faults()) text += to_toml(fault) + "\n";
  const auto read = read_text(text, "all.toml");
  REQUIRE_MESSAGE(read, (read ? "" : read.error().text()));
  REQUIRE(read->size() == library->faults().size());
  for (std::size_t i = 0; i < read->size(); ++i) check_same(library->faults()[i], (*read)[i]);
}

TEST_CASE("a fault as TOML: quotes, controls, and who confirmed it") {
  Fault fault;
  fault.id = "odd";
  fault.title = "It's \"odd\" \\ \x01\x7f\t\r\n ü €";
  fault.subcategory = "program";
  fault.patterns = {"it's \\(odd\\)", "'''\"\"\""};
  fault.cause = fault.fix = fault.action = "#]}=";
  fault.matches = {"it's (odd)"};
  fault.rejects = {"\\u0041"};
  fault.confirmed = Confirmation{"o'ps", *parse_time("2026-11-20T15:54:42.120Z"), "job.0.1"};
  const auto read = read_text(to_toml(fault), "folder/odd.toml");
  REQUIRE_MESSAGE(read, (read ? "" : read.error().text()));
  check_same(fault, read->front());
  CHECK(read->front().family == "odd");
}

TEST_CASE("a fault as TOML: an error has file, line and key") {
  Fault fault;
  fault.id = fault.title = fault.cause = fault.fix = fault.action = "x";
  fault.subcategory = "program";
  fault.patterns = fault.matches = fault.rejects = {"x"};
  std::string text = to_toml(fault);
  const auto refused = [&](const std::string& more) {
    const auto read = read_text(text + more, "some.toml");
    REQUIRE_FALSE(read);
    return read.error().text();
  };
  CHECK(refused("confirmed = { by = 'a', at = 'yesterday', incident = 'i' }\n")
            .find("at: yesterday: is no time") != std::string::npos);
  CHECK(refused("confirmed = { by = 'a', at = '2026-11-20T15:54:42Z' }\n").find("incident") !=
        std::string::npos);
  CHECK(refused("confirmed = { by = 'a', at = '2026-11-20T15:54:42Z', incident = 'i', why = 'x' "
                "}\n")
            .find("why: unknown key") != std::string::npos);
}

}  // namespace
}  // namespace l4::faults
