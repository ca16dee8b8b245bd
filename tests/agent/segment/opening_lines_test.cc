// Lines that begin a run, and how they come again.
#include "agent/segment/opening_lines.h"

#include <doctest/doctest.h>

#include <initializer_list>

namespace l4::segment {
namespace {

OpeningLines opening_of(std::initializer_list<std::uint32_t> lines) {
  OpeningLines opening;
  for (const std::uint32_t line : lines) opening.note(LocalTemplateId{line});
  return opening;
}

std::size_t repeated(OpeningLines& opening, std::initializer_list<std::uint32_t> lines) {
  std::uint64_t record = 1000;
  for (const std::uint32_t line : lines) opening.again(LocalTemplateId{line}, ++record);
  return opening.repeated();
}

TEST_CASE("lines count in the order in which they stood, once each") {
  auto opening = opening_of({1, 2, 3, 4, 5, 6});
  CHECK(repeated(opening, {1, 2, 2, 9, 4, 3, 6}) == 4);
  CHECK(opening.from_the_top());
  CHECK(opening.needed(false) == 3);
  CHECK(opening.needed(true) == 2);
}

TEST_CASE("what several processes print, or a loop, tells nothing; a line twice in a row does") {
  auto processes = opening_of({1, 2, 3, 1, 2, 3, 4});
  CHECK(repeated(processes, {1, 2, 3, 4}) == 1);
  CHECK(processes.needed(false) > OpeningLines::kMax);
  auto twice = opening_of({1, 1, 2, 2, 3});
  CHECK(repeated(twice, {1, 2, 3}) == 3);
}

TEST_CASE("lines that came again while the run went on tell nothing from then on") {
  auto opening = opening_of({1, 2, 3, 4, 5, 6});
  repeated(opening, {3, 4});
  opening.go_on();
  CHECK(opening.repeated() == 0);
  CHECK(repeated(opening, {3, 4}) == 0);
  CHECK(repeated(opening, {1, 2, 5}) == 3);
  opening.begin();
  CHECK(repeated(opening, {1, 2, 5}) == 3);
}

TEST_CASE("lines far apart are no start") {
  auto opening = opening_of({1, 2, 3, 4});
  opening.again(LocalTemplateId{1}, 10);
  opening.again(LocalTemplateId{2}, 5000);
  CHECK(opening.repeated() == 1);
  CHECK(opening.from_the_top());
}

TEST_CASE("more lines than there is room for are left out") {
  OpeningLines opening;
  for (std::uint32_t i = 0; i < 2 * OpeningLines::kMax; ++i) opening.note(LocalTemplateId{i});
  CHECK(opening.full());
  CHECK(opening.may_hold(LocalTemplateId{0}));
  opening.again(LocalTemplateId{OpeningLines::kMax + 5}, 1);
  CHECK(opening.repeated() == 0);
}

}  // namespace
}  // namespace l4::segment
