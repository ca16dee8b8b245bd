// Long lists are answered a page at a time: `?count=N` rows behind `?after=NAME`, and `next`, which
// is the name to go on behind, or null.
// Flow: a route's handler -> write_page -> JSON. Without a count a page has all rows, but it ends
// beyond kPageBytes, because clients accept no larger answer. Thread-safe, no state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <expected>
#include <limits>
#include <string>
#include <string_view>

#include "aggregator/api/parameters.h"
#include "aggregator/api/replies.h"
#include "aggregator/serve/json_text.h"

namespace l4::api {

inline constexpr std::size_t kPageBytes = 16 << 20;

struct PageQuery {
  std::size_t count = std::numeric_limits<std::size_t>::max();
  std::string after;    ///< empty: from the first on
  bool sorted = false;  ///< rows are sorted by name, so the row named `after` may be missing
};

PageQuery page_query(const http::Request& request);

/// Writes `next` and ends the document.
http::Response finish(serve::JsonWriter& text, std::string_view next);

/// The answer 400 if no row (any more) has the name `after`.
http::Response no_such_row(std::string_view after);

/// Writes the rows of the page and returns the name after which the next page begins; empty if this
/// was the last page. `name` gives a row's unique name; `write` writes a row and returns the bytes
/// written so far. Error: the rows are not sorted by name and `after` names none of them.
template <class Rows, class Name, class Write>
std::expected<std::string, http::Response> write_page(const Rows& rows, const PageQuery& query,
                                                      Name name, Write write) {
  auto row = rows.begin();
  if (!query.after.empty()) {
    row = std::find_if(row, rows.end(), [&](const auto& one) {
      return query.sorted ? name(one) > query.after : name(one) == query.after;
    });
    if (!query.sorted && row == rows.end()) return std::unexpected(no_such_row(query.after));
    if (!query.sorted) ++row;
  }
  std::string last;
  std::size_t bytes = 0;
  for (std::size_t i = 0; row != rows.end(); ++row, ++i) {
    if (i == query.count || bytes > kPageBytes) return last;
    bytes = write(*row);
    last = name(*row);
  }
  return std::string();
}

}  // namespace l4::api
