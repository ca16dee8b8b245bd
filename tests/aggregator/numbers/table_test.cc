// The numbers that decide: their table, what a site's table may change, and what is refused.
#include "aggregator/numbers/table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "aggregator/numbers/hang.h"
#include "aggregator/numbers/temporal.h"
#include "aggregator/numbers/verdict.h"

namespace l4::numbers {
namespace {

std::size_t place_of(std::string_view room, std::string_view name) {
  const auto row = std::ranges::find_if(
      rows(), [&](const Row& one) { return one.room == room && one.name == name; });
  REQUIRE(row != rows().end());
  return static_cast<std::size_t>(row - rows().begin());
}

Result<Values> read_text(const std::string& text) {
  auto root = ConfigTable::parse(text, "site.toml");
  if (!root) return std::unexpected(root.error());
  Values values = read(root->table("number"));
  if (auto error = root->finish()) return std::unexpected(std::move(*error));
  return values;
}

std::string error_of(const std::string& text) {
  const auto read = read_text(text);
  REQUIRE_FALSE(read);
  return read.error().text();
}

/// Puts back what was in force.
class Kept {
 public:
  ~Kept() { put_in_force(values_); }

 private:
  Values values_ = in_force_now();
};

TEST_CASE("numbers: the shipped table says what the headers say, within its own bounds") {
  const Values now = in_force_now();
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    CAPTURE(rows()[i].room);
    CAPTURE(rows()[i].name);
    CHECK(names.insert({rows()[i].room, rows()[i].name}).second);
    CHECK(shipped()[i].value == doctest::Approx(now[i]).epsilon(1e-12));
    CHECK(shipped()[i].from <= now[i]);
    CHECK(now[i] <= shipped()[i].to);
    CHECK_FALSE(shipped()[i].unit.empty());
  }
}

TEST_CASE("numbers: what is put in force is what a room reads, exactly") {
  const Kept kept;
  Values values = in_force_now();
  for (double& value : values) value = std::min(100.0, value + 1);
  put_in_force(values);
  CHECK(in_force_now() == values);
  values[place_of("hang", "floor")] = 90'000;
  values[place_of("hang", "gaps")] = 2.5;
  values[place_of("temporal", "steady")] = 7;
  values[place_of("verdict", "waited_percent")] = 70;
  put_in_force(values);
  CHECK(hang().floor == Millis{90'000});
  CHECK(hang().gaps == 2.5);
  CHECK(temporal().steady == 7);
  CHECK(verdict().waited_percent == 70);
}

TEST_CASE("numbers: a site's row counts, all others are as shipped") {
  const auto read = read_text("[number.hang]\ngaps = {value = 25.5, origin = \"our jobs\"}\n");
  REQUIRE_MESSAGE(read, read.error().text());
  for (std::size_t i = 0; i < rows().size(); ++i)
    CHECK((*read)[i] == (i == place_of("hang", "gaps") ? 25.5 : shipped()[i].value));
  CHECK(read_text("").value().size() == rows().size());
}

TEST_CASE("numbers: a row that cannot be taken is refused with file, line, name and value") {
  const auto row = [](const std::string& text) { return "[number.hang]\n\n" + text + "\n"; };
  CHECK(error_of(row(R"(gaps = {value = -5, origin = "x"})")) ==
        "site.toml:3: gaps: -5 is not from 0 to 1000 times");
  CHECK(error_of(row(R"(works_lines_min = {value = 2.5, origin = "x"})")) ==
        "site.toml:3: works_lines_min: 2.5 is not whole");
  CHECK(error_of(row(R"(gaps = {value = 5, origin = "x", unit = "ms"})"))
            .contains("site.toml:3: gaps: is in times, from 0 to 1000"));
  CHECK(error_of(row(R"(gaps = {value = 5, origin = "x", to = 5000})")).contains("cannot change"));
  CHECK(error_of(row(R"(gap = {value = 5, origin = "x"})"))
            .contains("site.toml:3: gap: unknown key; did you mean gaps?"));
  CHECK(error_of(row(R"(gaps = {value = "many", origin = "x"})"))
            .contains("site.toml:3: value: must be a number"));
  CHECK(error_of(row("gaps = {value = 5}")).contains("site.toml:3: origin: missing"));
  CHECK(error_of(row("gaps = 5")).contains("site.toml:3: gaps: must be a"));
  CHECK(error_of("[number.hung]\ngaps = 5\n").contains("hung: unknown key; did you mean hang?"));
}

}  // namespace
}  // namespace l4::numbers
