// A table on a terminal: columns as wide as their content, in a page of a given width.
//
// Flow: rows -> append_table -> serve::Page. Empty columns are left out; where the page is too
// narrow, columns that may shrink are cut first, then the least useful ones left out. All cells are
// made harmless. Thread-safe, no state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/serve/page.h"

namespace l4::terminal {

struct Column {
  std::string_view head;
  bool to_the_right = false;
  bool may_shrink = false;  ///< names: cut in their middle where the page is too narrow
  int spare = 0;            ///< columns with the highest number go first; 0: stays
};

using Row = std::vector<serve::Span>;

void append_table(serve::Page& page, const std::vector<Column>& columns, std::vector<Row> rows,
                  std::size_t width);

/// At most `width` cells, with an ellipsis in the middle if something was cut; the end is kept
/// longer than the front.
std::string cut_middle(const std::string& text, std::size_t width);

}  // namespace l4::terminal
