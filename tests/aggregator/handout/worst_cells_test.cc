// Which cells of a map are explained in a file, and how much of their terms it holds.
#include "aggregator/handout/worst_cells.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace l4::handout {
namespace {

// Cells in base64: a 1 2 3, b 0 200 255 (not known), c's ranks 9 0 7 and 0 0 8.
const std::string kNodes = R"({"job": "j", "what": "nodes", "by": "time", "step": 0.25,
  "columns": ["2026-11-20T10:00:00.000Z", "2026-11-20T10:00:10.000Z", "2026-11-20T10:00:20.000Z"],
  "end": "2026-11-20T10:00:30.000Z", "course": [], "left_out": 0, "rows": [
  {"node": "a", "rank": null, "phase": null, "cells": "AQID"},
  {"node": "b", "rank": null, "phase": null, "cells": "AMj/"}]})";
const std::string kPhases = R"({"job": "j", "what": "phases", "by": "iteration", "step": 0.02,
  "columns": [10, 20, 30], "end": 40, "course": [], "left_out": 0, "rows": [
  {"node": "c", "rank": 1, "phase": "forward", "cells": "CQAH"},
  {"node": "c", "rank": 2, "phase": "forward", "cells": "AAAI"},
  {"node": "c", "rank": 2, "phase": "backward", "cells": "AAkA"}]})";

std::vector<std::string> places(const std::vector<MapCell>& cells) {
  std::vector<std::string> found;
  for (const MapCell& cell : cells)
    found.push_back(fmt::format("{} {} {}", cell.node, cell.phase, cell.at));
  return found;
}

TEST_CASE("worst cells: of each node the highest, in the order of the nodes") {
  CHECK(places(worst_cells(kNodes, {"b", "a"}, 2)) ==
        std::vector<std::string>{"b  2026-11-20T10:00:10.000Z", "a  2026-11-20T10:00:20.000Z",
                                 "a  2026-11-20T10:00:10.000Z"});
  const auto one = worst_cells(kNodes, {"a"}, 1);
  REQUIRE(one.size() == 1);
  CHECK(one[0].what == "nodes");
  CHECK(one[0].from == "2026-11-20T10:00:00.000Z");
  CHECK(one[0].to == "2026-11-20T10:00:29.999Z");  // the last that is in the map
  CHECK(one[0].width == 3);
}

TEST_CASE("worst cells: the ranks of a node are one row, its phases are told apart") {
  CHECK(places(worst_cells(kPhases, {"c"}, 9)) ==
        std::vector<std::string>{"c forward 10", "c backward 20", "c forward 30"});
  CHECK(worst_cells(kPhases, {"c"}, 1)[0].to == "39");
}

TEST_CASE("worst cells: what is no map has none") {
  for (const char* text : {"", "{", "[]", "{}", R"({"columns": [], "rows": [], "end": null})",
                           R"({"columns": [1], "rows": 7, "end": 2})"})
    CHECK(worst_cells(text, {"a"}, 9).empty());
  CHECK(worst_cells(kNodes, {"no such node"}, 9).empty());
  CHECK(worst_cells(kNodes, {}, 9).empty());
}

TEST_CASE("worst cells: terms beyond those that are shown are counted and summed up") {
  std::string lines;
  for (int i = 0; i < 12; ++i)
    lines +=
        fmt::format(R"({}{{"template": "line {}", "nats": {}}})", i == 0 ? "" : ",", i, 20 - i);
  const std::string brief = brief_terms(
      R"({"lines": [)" + lines + R"(], "laps": [], "left_out": 3, "left_out_score": 4.5})",
      [](std::string& text) {
        if (text == "line 2") text = "[redacted]";
      });
  CHECK(brief.find("line 7") != std::string::npos);
  CHECK(brief.find("line 8") == std::string::npos);
  CHECK(brief.find("line 2") == std::string::npos);
  CHECK(brief.find("[redacted]") != std::string::npos);
  CHECK(brief.find(R"("left_out":7)") != std::string::npos);
  CHECK(brief.find(R"("left_out_score":46.5)") != std::string::npos);  // 4.5 + 12 + 11 + 10 + 9
  CHECK(brief_terms("no JSON", [](std::string&) {}).empty());
}

}  // namespace
}  // namespace l4::handout
