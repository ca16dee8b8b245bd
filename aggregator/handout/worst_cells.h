// The cells of a map whose terms go into a file: what its reader will open first.
//
// Flow: JSON of Scores (schemas/openapi.yaml), as the file holds it -> worst_cells() -> the caller
// asks for the terms of each -> brief_terms() -> one_file.h. Thread-safe, no state.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace l4::handout {

/// A cell as GET /api/v1/jobs/{id}/scores/terms is asked for it; from, to and width give the
/// columns of its map again.
struct MapCell {
  std::string what, node, phase, at, from, to;
  std::size_t width = 0;
};

/// Of each node the cells with the highest scores, at most `each`, highest first; the phases of a
/// node together. Cells that are as usual, and text that is no map, give none.
std::vector<MapCell> worst_cells(std::string_view scores, const std::vector<std::string>& nodes,
                                 std::size_t each);

inline constexpr std::size_t kTermsShown = 8;  ///< of a cell; the page shows as many (terms.tsx)

/// JSON of ScoreTerms with the kTermsShown largest terms, and every text through `change`; empty if
/// it is none.
std::string brief_terms(std::string_view terms, const std::function<void(std::string&)>& change);

/// JSON with every text of it, but for names of members, through `change`; empty if it is none.
std::string changed_json(std::string_view json, const std::function<void(std::string&)>& change);

}  // namespace l4::handout
